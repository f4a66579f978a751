/** The editions in the order in which they are listed and follow one another, and what they say by its words. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`CREATE INDEX report_edition_by_end ON report_edition (period_to, rendered_at, id, time_zone, period_from)`,
  sql`CREATE INDEX report_edition_by_series ON report_edition (report, variant, kind, period_to)`,
  // Apart from the texts, so that what is found is known without reading them.
  sql`CREATE TABLE edition_no ( -- one row an edition: its number in edition_search
    no INTEGER PRIMARY KEY,
    edition_id TEXT NOT NULL UNIQUE -- report_edition.id
  ) STRICT`,
  sql`CREATE VIRTUAL TABLE edition_search USING fts5 (subject, about, text,
    tokenize = 'unicode61 remove_diacritics 2')`,
  sql`CREATE TRIGGER edition_search_insert AFTER INSERT ON report_edition BEGIN
    INSERT INTO edition_no (edition_id) VALUES (new.id);
    INSERT INTO edition_search (rowid, subject, about, text)
      SELECT no, new.subject, new.report || coalesce((SELECT group_concat(' ' || atom, '')
        FROM json_tree(iif(json_valid(new.variant), new.variant, '{}')) WHERE type = 'text'), ''), new.text
      FROM edition_no WHERE edition_id = new.id;
  END`,
  sql`CREATE TRIGGER edition_search_delete AFTER DELETE ON report_edition BEGIN
    DELETE FROM edition_search WHERE rowid = (SELECT no FROM edition_no WHERE edition_id = old.id);
    DELETE FROM edition_no WHERE edition_id = old.id;
  END`,
  sql`INSERT INTO edition_no (edition_id) SELECT id FROM report_edition`,
  sql`INSERT INTO edition_search (rowid, subject, about, text)
    SELECT no, subject, report || coalesce((SELECT group_concat(' ' || atom, '')
      FROM json_tree(iif(json_valid(variant), variant, '{}')) WHERE type = 'text'), ''), text
    FROM report_edition JOIN edition_no ON edition_id = id`,
]
