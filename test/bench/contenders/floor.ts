/**
 * The floor of a first sync: the pages fetched and parsed, and the rows that leadsheet writes inserted by bare
 * prepared statements, into a fresh file without a journal, in one transaction, the indexes built last. No
 * mapping by a profile, no checks, nothing to resume: a kill loses it all.
 */
import Database from 'better-sqlite3'
import type { WireLead } from '../../../src/contract/lead.ts'
import { openStore } from '../../../src/store/open.ts'
import { file, timeStep, url } from '../step.ts'
import { pagesOf } from './pages.ts'

// For the tables alone.
await (await openStore(file, new Date())).close()

const db = new Database(file)
const indexes = db
  .prepare<[], { name: string; sql: string }>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
  )
  .all()
db.pragma('journal_mode = OFF')
db.pragma('synchronous = OFF')
db.pragma('foreign_keys = OFF')
for (const { name } of indexes) db.exec(`DROP INDEX ${name}`)

const LEAD = columns(
  'no id pipeline_id status company_name company_domain company_industry company_subindustry company_employees',
  'company_city company_country company_region company_one_liner contact_name contact_title contact_email score',
  'value_amount value_currency source agent_id tags created_at updated_at status_changed_at first_seen_at',
  'observed_at run_id derived_version',
)
const insertLead = prepare('lead', LEAD)
const insertRaw = prepare('lead_raw', ['lead_no', 'raw'])
const insertFingerprint = prepare('lead_fingerprint', ['lead_no', 'fingerprint'])

await timeStep('first', async () => {
  const at = new Date().toISOString()
  let no = 0
  db.exec('BEGIN')
  for await (const page of pagesOf(`${url}/v1`)) for (const lead of page) insert(++no, lead, at)
  db.exec('COMMIT')
  for (const { sql } of indexes) db.exec(sql)
  return null
})
db.close()

function insert(no: number, lead: WireLead, at: string): void {
  const { company, contact, value } = lead
  insertLead.run(
    no,
    lead.id,
    lead.pipeline_id,
    lead.status,
    company.name,
    company.domain,
    company.industry,
    company.subindustry,
    company.employees,
    company.city,
    company.country,
    company.region,
    company.one_liner,
    contact?.name,
    contact?.title,
    contact?.email,
    lead.score,
    value?.amount,
    value?.currency,
    lead.source,
    lead.agent_id,
    JSON.stringify(lead.tags),
    lead.created_at,
    lead.updated_at,
    lead.status_changed_at,
    at,
    at,
    'run',
    1,
  )
  insertRaw.run(no, JSON.stringify(lead))
  insertFingerprint.run(no, lead.id.slice(0, 16))
}

function columns(...names: readonly string[]): string[] {
  return names.join(' ').split(' ')
}

function prepare(table: string, names: readonly string[]): Database.Statement<unknown[]> {
  return db.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
}
