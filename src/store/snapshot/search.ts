/**
 * The full-text search over leads, which only the snapshot has. The index `lead_fts` holds only words, and
 * reads the texts from the view `lead_text`. Analysts search the view `lead_search` by `WHERE words MATCH
 * 'solar'`.
 */
import type Database from 'better-sqlite3'

export function createSearch(database: Database.Database): void {
  for (const sql of [LEAD_TEXT, LEAD_FTS, LEAD_SEARCH]) database.exec(sql)
}

export function fillSearch(database: Database.Database): void {
  database.exec(`INSERT INTO lead_fts (lead_fts) VALUES ('rebuild')`)
  database.exec(`INSERT INTO lead_fts (lead_fts) VALUES ('optimize')`)
}

/**
 * Stores the texts of some leads in a temporary table, before their rows change.
 * @param leads a SELECT of `lead.no`
 */
export function keepTexts(database: Database.Database, leads: string): void {
  database.exec(`
    CREATE TEMP TABLE changed_lead (no INTEGER PRIMARY KEY);
    INSERT OR IGNORE INTO changed_lead ${leads};
    CREATE TEMP TABLE old_text AS SELECT * FROM lead_text WHERE no IN (SELECT no FROM changed_lead)`)
}

/** Brings the full-text index up to date with the rows that changed since {@link keepTexts}. */
export function followTexts(database: Database.Database): void {
  const texts = 'company, place, contact, activity'
  const isSame =
    '(old.company, old.place, old.contact, old.activity) IS (new.company, new.place, new.contact, new.activity)'
  database.exec(`
    CREATE TEMP TABLE new_text AS SELECT * FROM lead_text WHERE no IN (SELECT no FROM changed_lead);
    CREATE TEMP TABLE same_text AS SELECT no FROM old_text AS old JOIN new_text AS new USING (no) WHERE ${isSame};
    INSERT INTO lead_fts (lead_fts, rowid, ${texts})
      SELECT 'delete', no, ${texts} FROM old_text WHERE no NOT IN (SELECT no FROM same_text);
    INSERT INTO lead_fts (rowid, ${texts})
      SELECT no, ${texts} FROM new_text WHERE no NOT IN (SELECT no FROM same_text)`)
}

const LEAD_TEXT = `CREATE VIEW lead_text AS
  -- one row per lead: the texts that lead_search searches
  -- no: lead.no
  -- company: name, domain, industry and one-liner of the company
  -- place: city, region and country
  -- contact: name and title of the contact
  -- activity: summaries of the activity of the lead, oldest first; null if there are none
  SELECT no,
    coalesce(company_name, '') || coalesce(' · ' || company_domain, '') || coalesce(' · ' || company_industry, '')
      || coalesce(' · ' || company_subindustry, '') || coalesce(' · ' || company_one_liner, '') AS company,
    coalesce(company_city || ', ', '') || coalesce(company_region || ', ', '') || coalesce(company_country, '')
      AS place,
    coalesce(contact_name, '') || coalesce(', ' || contact_title, '') AS contact,
    (SELECT group_concat(summary, ' · ') FROM
      (SELECT summary FROM activity WHERE activity.lead_id = lead.id ORDER BY at)) AS activity
  FROM lead`

const LEAD_FTS = `CREATE VIRTUAL TABLE lead_fts USING fts5 (company, place, contact, activity,
  content = 'lead_text', content_rowid = 'no', tokenize = 'unicode61 remove_diacritics 2')`

const LEAD_SEARCH = `CREATE VIEW lead_search AS
  -- one row per lead that a full-text search finds, as in: SELECT company_name, found FROM lead_search WHERE words MATCH 'solar berlin' ORDER BY rank
  -- words: the search, with MATCH: solar berlin (both words), solar OR wind, solar* (a beginning), "solar panels" (a phrase), place: berlin (one column of lead_text)
  -- rank: how well the lead matches; the lowest is the best
  -- found: the text that matches, with the words in [ ]
  SELECT lead_fts.lead_fts AS words, lead_fts.rank AS rank, snippet(lead_fts, -1, '[', ']', '…', 12) AS found,
    lead_now.*
  FROM lead_fts JOIN lead_now ON lead_now.no = lead_fts.rowid`
