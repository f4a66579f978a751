/**
 * The words of editions, by which they are found, as the full text search of SQLite finds them: whatever is neither
 * letter nor digit parts words, and neither capitals nor accents matter. The index knows which words an edition has;
 * that they follow one another is asked of the words themselves.
 */
import { type RawBuilder, sql } from 'kysely'

/**
 * `acme`, not `Acmé!`; by the same rules whatever the database's own language is. What is longer than any word is cut,
 * since no index takes it.
 */
const WORDS_OF = `CREATE OR REPLACE FUNCTION words_of(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT btrim(regexp_replace(regexp_replace(
    lower(normalize(regexp_replace(normalize(value, NFD), '[\\u0300-\\u036f]+', '', 'g'), NFC) COLLATE "und-x-icu"),
    '[^[:alnum:]]+', ' ', 'g'), '([[:alnum:]]{200})[[:alnum:]]+', '\\1', 'g')) $$`

/** All of a phrase, of which the last word may go on. Nothing is found by one that has no word. */
const WANTED_OF = `CREATE OR REPLACE FUNCTION wanted_of(phrase text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CAST(CASE words WHEN '' THEN '' ELSE replace(words, ' ', ' & ') || ':*' END AS tsquery)
  FROM (SELECT words_of(phrase) AS words) AS phrase $$`

/** One statement each; the table is filled by the trigger from the first edition on. */
export const SEARCH: readonly string[] = [
  `CREATE TABLE edition_search (
    edition_id text COLLATE "C" PRIMARY KEY REFERENCES report_edition ON DELETE CASCADE,
    said text NOT NULL,
    words tsvector NOT NULL GENERATED ALWAYS AS (array_to_tsvector(string_to_array(said, ' '))) STORED
  )`,
  'CREATE INDEX edition_search_words ON edition_search USING gin (words)',
  "COMMENT ON TABLE edition_search IS 'one row an edition: its words, kept by a trigger'",
  "COMMENT ON COLUMN edition_search.edition_id IS 'report_edition.id'",
  "COMMENT ON COLUMN edition_search.said IS 'subject, report with what its leads are chosen by, and text, each between bars'",
  "COMMENT ON COLUMN edition_search.words IS 'which words those are'",
]

/** Made anew whenever one of them changes. */
export const SEARCH_TRIGGERS: readonly string[] = [
  WORDS_OF,
  WANTED_OF,
  `CREATE OR REPLACE FUNCTION edition_search_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO edition_search (edition_id, said) SELECT new.id, concat_ws(' ',
      '|', nullif(words_of(new.subject), ''),
      '|', nullif(words_of(concat(new.report, ' ', (SELECT string_agg(part #>> '{}', ' ')
        FROM jsonb_path_query(CAST(nullif(new.variant, '') AS jsonb), 'strict $.** ? (@.type() == "string")') AS part))), ''),
      '|', nullif(words_of(new.text), ''));
    RETURN NULL;
  END $$`,
  `CREATE OR REPLACE TRIGGER edition_search_insert AFTER INSERT ON report_edition FOR EACH ROW
    EXECUTE FUNCTION edition_search_insert()`,
]

/** Whether an edition of the query has each of these phrases. */
export function saysAllInPostgres(phrases: readonly string[]): RawBuilder<boolean> {
  const each = phrases.map(
    (phrase) => sql`words @@ wanted_of(${phrase}) AND said LIKE concat('% ', words_of(${phrase}), '%')`,
  )
  return sql<boolean>`id IN (SELECT edition_id FROM edition_search WHERE ${sql.join(each, sql` AND `)})`
}
