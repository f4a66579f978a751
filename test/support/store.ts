/** A store for one test, with invented leads, pipelines and runs to put into it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Activity, Agent, Lead, PipelineStat, QuarantinedRecord } from '../../src/domain/model.ts'
import type { Observation, Store } from '../../src/store/db/store.ts'
import { saveDetail } from '../../src/store/leads/detail.ts'
import { saveLeads } from '../../src/store/leads/lead.ts'
import { recordDeletions } from '../../src/store/leads/lead-version.ts'
import { SET_REACHED } from '../../src/store/leads/reached.ts'
import { saveStages } from '../../src/store/leads/stages.ts'
import { openStore } from '../../src/store/open.ts'
import { noteLeadsAsOf, startRun } from '../../src/store/sync/sync-run.ts'
import { isQuarantined, mapAgent, mapPipelineStat } from '../../src/upstream/mapping/lead-mapping.ts'
import { REFERENCE_PROFILE } from '../../src/upstream/profile/reference-profile.ts'
import { BLANK_LEAD } from './data/blank-lead.ts'
import { folderWith } from './folder.ts'
import { newDatabase, preparedDatabase } from './postgres.ts'

export const OPENED_AT = new Date('2026-11-21T06:00:00Z')

export const STAGES = [
  { status: 'new', position: 0, outcome: 'open', inFunnel: true, isQualified: false },
  { status: 'contacted', position: 1, outcome: 'open', inFunnel: true, isQualified: true },
  { status: 'won', position: 2, outcome: 'won', inFunnel: true, isQualified: true },
  { status: 'lost', position: 3, outcome: 'lost', inFunnel: false, isQualified: false },
  { status: 'disqualified', position: 4, outcome: 'disqualified', inFunnel: false, isQualified: false },
] as const

/** Opens a store with {@link STAGES} and without leads. The caller's test closes it. */
export async function openEmptyStore(): Promise<Store> {
  const store = await openNewStore(join(folderWith(), 'leadsheet.db'), OPENED_AT)
  await store.write((trx) => saveStages(trx, STAGES))
  return store
}

/** True if this run has its stores in PostgreSQL; see `vitest.config.ts`. */
export const IN_POSTGRES = process.env['TEST_STORE'] === 'postgres'

/**
 * Opens a new store like `openStore`.
 * @param file of a store in SQLite. A store in PostgreSQL gets its own database
 */
export async function openNewStore(file: string, now: Date): Promise<Store> {
  if (IN_POSTGRES) return openStore(await newStoreUrl(), now)
  migrated ??= makeMigrated()
  writeFileSync(file, await migrated, { flag: 'wx', mode: 0o600 })
  return openStore(file, now)
}

/** Returns the URL of a new database of PostgreSQL with the tables of a store. */
export async function newStoreUrl(): Promise<string> {
  return newDatabase(await migratedDatabase())
}

/** Opens a new store in PostgreSQL, whichever database the run has. The caller's test closes it. */
export async function openInPostgres(): Promise<Store> {
  return openStore(await newStoreUrl(), OPENED_AT)
}

/** Returns the address of a store, for a second connection. */
export function addressOf({ place }: Pick<Store, 'place'>): string {
  if (place.kind === 'sqlite') throw new Error(`${place.file} is no PostgreSQL`)
  const url = new URL(place.url)
  url.searchParams.set('schema', place.schema)
  return url.href
}

/**
 * The migrated file is made once and copied, because tests open hundreds and migrating takes longer than most
 * of them.
 */
let migrated: Promise<Buffer> | null = null

/** Returns the URL of a PostgreSQL database to copy. It has the tables of a store and no installation. */
function migratedDatabase(): Promise<string> {
  return preparedDatabase('migrated', migrate)
}

/**
 * Opens a copy of a store with {@link STAGES} and what `fill` put into it. The first caller of this name fills it: in
 * a worker in SQLite, in a run in PostgreSQL. All copies are the same installation.
 */
export function openFilledStore(name: string, fill: (store: Store) => Promise<void>): Promise<Store> {
  return openPreparedStore(name, async (place) => {
    await using store = await openStore(place, OPENED_AT)
    await store.write((trx) => saveStages(trx, STAGES))
    await fill(store)
  })
}

/**
 * Works like {@link openFilledStore}, without stages.
 * @param fill gets the path or the URL of an empty store, and closes it before it returns
 */
export async function openPreparedStore(
  name: string,
  fill: (place: string) => Promise<void>,
): Promise<Store> {
  if (IN_POSTGRES) {
    const template = await preparedDatabase(name, fill, await migratedDatabase())
    return openStore(await newDatabase(template), OPENED_AT)
  }
  const file = join(folderWith(), 'leadsheet.db')
  const known = filled.get(name)
  migrated ??= makeMigrated()
  writeFileSync(file, known ?? (await migrated), { mode: 0o600 })
  if (known === undefined) {
    await fill(file)
    filled.set(name, readFileSync(file))
  }
  return openStore(file, OPENED_AT)
}

/** The files of {@link openPreparedStore} by their names. */
const filled = new Map<string, Buffer>()

async function makeMigrated(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'leadsheet-'))
  const file = join(folder, 'leadsheet.db')
  await migrate(file)
  const content = readFileSync(file)
  rmSync(folder, { recursive: true })
  return content
}

/** Makes a store without an installation, so that each copy becomes its own. */
async function migrate(place: string): Promise<void> {
  await using store = await openStore(place, OPENED_AT)
  await store.write((trx) => trx.deleteFrom('installation').execute())
}

/** Returns a lead as the mapping makes it. Its raw record follows from its fields. */
export function lead(id: string, change: Partial<Omit<Lead, 'id' | 'raw'>> = {}): Lead {
  const fields = {
    ...BLANK_LEAD,
    id,
    pipelineId: 'p1',
    status: 'new',
    companyName: `Company ${id}`,
    cleaned: [],
    cut: 0,
    unsure: [],
    createdAt: '2026-11-01T00:00:00.000Z',
    updatedAt: '2026-11-01T00:00:00.000Z',
    statusChangedAt: '2026-11-01T00:00:00.000Z',
    ...change,
  }
  return { ...fields, raw: JSON.stringify(fields) }
}

export function observedAt(at: string): Observation {
  return { runId: 'run', at: new Date(at).toISOString() }
}

export async function save(store: Store, leads: readonly Lead[], at = '2026-11-21T06:00:00Z'): Promise<void> {
  await store.write((trx) => saveLeads(trx, leads, observedAt(at)))
}

/** Saves entries of the activity of a lead, as its details tell them. */
export async function saveActivity(
  store: Store,
  id: string,
  entries: readonly (Pick<Activity, 'id' | 'at'> & Partial<Activity>)[],
  at: string,
): Promise<void> {
  const blank = { type: null, agentId: null, summary: null, fromStatus: null, toStatus: null }
  const activity = entries.map((entry) => ({ ...blank, ...entry }))
  const detail = { leadId: id, updatedAt: null, enrichment: null, activity, quarantined: [], raw: '{}' }
  await store.write(async (trx) => {
    const columns = ['no', 'id', 'updated_at as updatedAt'] as const
    const row = trx.selectFrom('lead').select(columns).where('id', '=', id)
    await saveDetail(trx, await row.executeTakeFirstOrThrow(), detail, observedAt(at))
  })
}

/** Marks leads as deleted, as a second complete scan without them does. */
export async function deleteLeads(store: Store, ids: readonly string[], at: string): Promise<void> {
  if (ids.length === 0) return
  await store.write(async (trx) => {
    await trx.updateTable('lead').set({ deleted_at: at }).where('id', 'in', ids).execute()
    await recordDeletions(trx, ids, observedAt(at))
  })
}

/** Saves a run that read all leads as of an instant. */
export async function saveWholeRun(store: Store, asOf: string, startedAt = asOf): Promise<string> {
  return store.write(async (trx) => {
    const id = await startRun(trx, { mode: 'full', parts: ['leads'], at: new Date(startedAt).toISOString() })
    await noteLeadsAsOf(trx, id, new Date(asOf).toISOString())
    return id
  })
}

/** Saves a run that read all leads as of an instant and has ended. */
export async function saveEndedRun(store: Store, asOf: string): Promise<void> {
  const id = await saveWholeRun(store, asOf)
  const ended = { finished_at: new Date(asOf).toISOString(), outcome: 'ok', is_complete: 1 } as const
  await store.write((trx) => trx.updateTable('sync_run').where('id', '=', id).set(ended).execute())
}

/** Returns a sample of statistics with these numbers of leads by stage. */
export function stat(
  pipelineId: string,
  asOf: string,
  reached: Readonly<Record<string, number>>,
): PipelineStat {
  const at = new Date(asOf).toISOString()
  const stages = Object.entries(reached).map(([stage, count]) => ({ stage, reached: count }))
  const sent = { name: `Pipeline ${pipelineId}`, status: 'active', as_of: at, stages }
  return mapped(mapPipelineStat(sent, pipelineId, REFERENCE_PROFILE, at))
}

export function agent(id: string, status: string): Agent {
  return mapped(mapAgent({ id, name: `Agent ${id}`, status }, REFERENCE_PROFILE))
}

function mapped<T extends object>(of: T | QuarantinedRecord): T {
  if (isQuarantined(of)) throw new Error(of.reason)
  return of
}

/** Stores the versions of all leads, as if each had changed, so that a rule can compare them with the leads. */
export const STORE_VERSIONS = `INSERT INTO lead_history
    SELECT *, -1 FROM lead_version WHERE lead_id IN (SELECT id FROM lead WHERE derived_version IS NOT NULL);
  UPDATE lead SET derived_version = NULL; ${SET_REACHED}`

/** Makes a folder with these files and an empty database in `data`, as `leadsheet sync` would leave it. */
export async function folderWithDatabase(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = folderWith({ 'data/.keep': '', ...files })
  await (await openStore(join(folder, 'data/leadsheet.db'), new Date())).close()
  return folder
}
