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
  // Merges the parts of the index once at the end, which takes two thirds of the time of merging as it grows.
  database.exec(`INSERT INTO lead_fts (lead_fts, rank) VALUES ('automerge', 0), ('crisismerge', 2000)`)
  database.exec(`INSERT INTO lead_fts (lead_fts) VALUES ('rebuild')`)
  database.exec(`INSERT INTO lead_fts (lead_fts) VALUES ('optimize')`)
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
  FROM lead_fts JOIN lead ON lead.no = lead_fts.rowid JOIN lead_now ON lead_now.id = lead.id`
