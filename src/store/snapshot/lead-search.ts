/**
 * Full-text search over leads, in the snapshot only: the index `lead_fts` holds words alone and reads the texts
 * from the view `lead_text`; the view `lead_search` joins what is found to `lead_now`.
 */
import type Database from 'better-sqlite3'

/** Analysts search by `WHERE words MATCH 'solar'`, which the view hands on to the index. */
export function addSearch(database: Database.Database): void {
  database.exec(LEAD_TEXT)
  database.exec(LEAD_FTS)
  database.exec(LEAD_SEARCH)
  database.exec(`INSERT INTO lead_fts (lead_fts) VALUES ('rebuild')`)
  database.exec(`INSERT INTO lead_fts (lead_fts) VALUES ('optimize')`)
}

const LEAD_TEXT = `CREATE VIEW lead_text AS
  -- one row a lead: the texts that lead_search looks into
  -- no: lead.no
  -- company: name, domain, industry and what the company says of itself
  -- place: city, region and country
  -- contact: name and title of the contact
  -- activity: summaries of what was done with the lead, oldest first; null where none is known
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
  -- leads by words, as in: SELECT company_name, found FROM lead_search WHERE words MATCH 'solar berlin' ORDER BY rank
  -- words: what to search for, by MATCH: words are all to be found, OR between them takes either, solar* is how
  -- words begin, "solar panels" a phrase, company: solar one column of lead_text
  -- rank: how well the lead fits; the least is the best
  -- found: where it was found, the words in [ ]
  SELECT lead_fts.lead_fts AS words, lead_fts.rank AS rank, snippet(lead_fts, -1, '[', ']', '…', 12) AS found,
    lead_now.*
  FROM lead_fts JOIN lead_now ON lead_now.no = lead_fts.rowid`
