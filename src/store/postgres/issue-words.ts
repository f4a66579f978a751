/**
 * Full-text search of issues in PostgreSQL, with the rules of SQLite's search: any character other than a
 * letter or digit separates words, and capitals and accents do not matter. The index finds the issues that
 * contain all words. A comparison with the stored words then shows whether the words follow one another.
 */
import { type RawBuilder, sql } from 'kysely'

/**
 * Reduces a text to its words, such as `acme` for `Acmé!`, whatever the language of the database. Words are
 * cut at 200 characters, because an index cannot hold longer words.
 */
const WORDS_OF = `CREATE OR REPLACE FUNCTION words_of(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT btrim(regexp_replace(regexp_replace(
    lower(normalize(regexp_replace(normalize(value, NFD), '[\\u0300-\\u036f]+', '', 'g'), NFC) COLLATE "und-x-icu"),
    '[^[:alnum:]]+', ' ', 'g'), '([[:alnum:]]{200})[[:alnum:]]+', '\\1', 'g')) $$`

/**
 * Builds the search for all words of a phrase. The last word may be incomplete. A phrase without words finds
 * nothing.
 */
const WANTED_OF = `CREATE OR REPLACE FUNCTION wanted_of(phrase text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CAST(CASE words WHEN '' THEN '' ELSE replace(words, ' ', ' & ') || ':*' END AS tsquery)
  FROM (SELECT words_of(phrase) AS words) AS phrase $$`

/** The statements that create the table of words. A trigger adds each new issue. */
export const SEARCH: readonly string[] = [
  `CREATE TABLE issue_search (
    issue_id text COLLATE "C" PRIMARY KEY REFERENCES report_issue ON DELETE CASCADE,
    said text NOT NULL,
    words tsvector NOT NULL GENERATED ALWAYS AS (array_to_tsvector(string_to_array(said, ' '))) STORED
  )`,
  'CREATE INDEX issue_search_words ON issue_search USING gin (words)',
  "COMMENT ON TABLE issue_search IS 'one row per issue: its words, kept by a trigger'",
  "COMMENT ON COLUMN issue_search.issue_id IS 'report_issue.id'",
  "COMMENT ON COLUMN issue_search.said IS 'words of the subject, of the name and filter of the report, and of the text, each part after a bar'",
  "COMMENT ON COLUMN issue_search.words IS 'the same words, for the index'",
]

/** The functions and triggers. They are created again whenever the text of one of them changes. */
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

/** Builds the condition that an issue contains each of the phrases. */
export function saysAllInPostgres(phrases: readonly string[]): RawBuilder<boolean> {
  const each = phrases.map(
    (phrase) => sql`words @@ wanted_of(${phrase}) AND said LIKE concat('% ', words_of(${phrase}), '%')`,
  )
  return sql<boolean>`id IN (SELECT issue_id FROM issue_search WHERE ${sql.join(each, sql` AND `)})`
}
