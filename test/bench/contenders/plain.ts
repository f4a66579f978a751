/** The tables of the plain scripts: fifteen columns and the record itself, three indexes, no history. */
import Database from 'better-sqlite3'
import { Kysely, SqliteDialect, sql } from 'kysely'
import type { WireLead } from '../../../src/contract/lead.ts'
import { file } from '../step.ts'

export type PlainRow = ReturnType<typeof columnsOf>

export function columnsOf(lead: WireLead) {
  return {
    id: lead.id,
    pipeline_id: lead.pipeline_id,
    status: lead.status,
    company_name: lead.company.name,
    company_domain: lead.company.domain,
    company_industry: lead.company.industry,
    company_employees: lead.company.employees,
    company_country: lead.company.country,
    contact_name: lead.contact?.name ?? null,
    contact_email: lead.contact?.email ?? null,
    score: lead.score,
    value_amount: lead.value?.amount ?? null,
    source: lead.source,
    created_at: lead.created_at,
    updated_at: lead.updated_at,
    raw: JSON.stringify(lead),
  }
}

export async function openPlain(): Promise<Kysely<{ lead: PlainRow }>> {
  const database = new Database(file)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = NORMAL')
  const db = new Kysely<{ lead: PlainRow }>({ dialect: new SqliteDialect({ database }) })
  await sql`CREATE TABLE lead (id TEXT PRIMARY KEY, pipeline_id TEXT, status TEXT, company_name TEXT,
    company_domain TEXT, company_industry TEXT, company_employees INTEGER, company_country TEXT, contact_name TEXT,
    contact_email TEXT, score INTEGER, value_amount REAL, source TEXT, created_at TEXT, updated_at TEXT,
    raw TEXT)`.execute(db)
  await sql`CREATE INDEX by_status ON lead (status, updated_at)`.execute(db)
  await sql`CREATE INDEX by_pipeline ON lead (pipeline_id, status)`.execute(db)
  await sql`CREATE INDEX by_score ON lead (score)`.execute(db)
  return db
}

const BATCH_ROWS = 50

/** Inserts a page in one transaction, fifty rows in a statement. */
export async function saveBatches(db: Kysely<{ lead: PlainRow }>, page: readonly WireLead[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (let at = 0; at < page.length; at += BATCH_ROWS) {
      const rows = page.slice(at, at + BATCH_ROWS).map(columnsOf)
      const names = Object.keys(rows[0] ?? {}) as (keyof PlainRow)[]
      await trx
        .insertInto('lead')
        .values(rows)
        .onConflict((on) =>
          on
            .column('id')
            .doUpdateSet(({ ref }) =>
              Object.fromEntries(names.map((name) => [name, ref(`excluded.${name}`)])),
            ),
        )
        .execute()
    }
  })
}
