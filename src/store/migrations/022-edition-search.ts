/** The editions in the order in which they are listed and follow one another, and what they say by its words. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`CREATE INDEX report_edition_by_end ON report_edition (period_to, rendered_at, time_zone, period_from)`,
  sql`CREATE INDEX report_edition_by_series ON report_edition (report, variant, kind, period_to)`,
  // The id first, so that it is read without the text that follows.
  sql`CREATE VIRTUAL TABLE edition_search USING fts5 (edition_id UNINDEXED, subject, about, text,
    tokenize = 'unicode61 remove_diacritics 2')`,
  sql`CREATE TRIGGER edition_search_insert AFTER INSERT ON report_edition BEGIN
    INSERT INTO edition_search (edition_id, subject, about, text) VALUES (new.id, new.subject, new.report || coalesce(
      (SELECT group_concat(' ' || atom, '') FROM json_tree(iif(json_valid(new.variant), new.variant, '{}')) WHERE type = 'text'),
      ''), new.text);
  END`,
  sql`CREATE TRIGGER edition_search_delete AFTER DELETE ON report_edition BEGIN
    DELETE FROM edition_search WHERE edition_id = old.id;
  END`,
  sql`INSERT INTO edition_search (edition_id, subject, about, text)
    SELECT id, subject, report || coalesce(
      (SELECT group_concat(' ' || atom, '') FROM json_tree(iif(json_valid(variant), variant, '{}')) WHERE type = 'text'),
      ''), text
    FROM report_edition`,
]
