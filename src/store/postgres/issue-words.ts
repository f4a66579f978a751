/**
 * The words of issues, by which they are found, as the full text search of SQLite finds them: whatever is neither
 * message nor digit parts words, and neither capitals nor accents matter. The index knows which words an issue has;
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

/** One statement each; the table is filled by the trigger from the first issue on. */
export const SEARCH: readonly string[] = [
  `CREATE TABLE issue_search (
    issue_id text COLLATE "C" PRIMARY KEY REFERENCES report_issue ON DELETE CASCADE,
    said text NOT NULL,
    words tsvector NOT NULL GENERATED ALWAYS AS (array_to_tsvector(string_to_array(said, ' '))) STORED
  )`,
  'CREATE INDEX issue_search_words ON issue_search USING gin (words)',
  "COMMENT ON TABLE issue_search IS 'one row an issue: its words, kept by a trigger'",
  "COMMENT ON COLUMN issue_search.issue_id IS 'report_issue.id'",
  "COMMENT ON COLUMN issue_search.said IS 'subject, report with what its leads are chosen by, and text, each between bars'",
  "COMMENT ON COLUMN issue_search.words IS 'which words those are'",
]

/** Made anew whenever one of them changes. */
export const SEARCH_TRIGGERS: readonly string[] = [
  WORDS_OF,
  WANTED_OF,
  `CREATE OR REPLACE FUNCTION issue_search_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO issue_search (issue_id, said) SELECT new.id, concat_ws(' ',
      '|', nullif(words_of(new.subject), ''),
      '|', nullif(words_of(concat(new.report, ' ', (SELECT string_agg(part #>> '{}', ' ')
        FROM jsonb_path_query(CAST(nullif(new.variant, '') AS jsonb), 'strict $.** ? (@.type() == "string")') AS part))), ''),
      '|', nullif(words_of(new.text), ''));
    RETURN NULL;
  END $$`,
  `CREATE OR REPLACE TRIGGER issue_search_insert AFTER INSERT ON report_issue FOR EACH ROW
    EXECUTE FUNCTION issue_search_insert()`,
]

/** Whether an issue of the query has each of these phrases. */
export function saysAllInPostgres(phrases: readonly string[]): RawBuilder<boolean> {
  const each = phrases.map(
    (phrase) => sql`words @@ wanted_of(${phrase}) AND said LIKE concat('% ', words_of(${phrase}), '%')`,
  )
  return sql<boolean>`id IN (SELECT issue_id FROM issue_search WHERE ${sql.join(each, sql` AND `)})`
}
