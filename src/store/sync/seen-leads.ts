/**
 * What the scan under way has met, in memory: a byte a lead, and a row a page in `sync_scan_page` for the run that
 * has to go on after a kill. A record that is held and no lead of the store is told by its id.
 */
import type { Db, Trx } from '../db/store.ts'

/** A lead by its number, or a record by its id. */
export type Met = number | string

const CHUNK_PAGES = 200

export interface MetLeads {
  /** The last pass that met it; 0 where none has. */
  passOf(met: Met): number
  note(met: Met, pass: number): void
  /** Gives a record that was told by its id the number that it has now. */
  number(id: string, no: number): void
  /** How many were met. */
  count(): number
  /** The numbers up to a last one that no pass has met. */
  missing(last: number): number[]
}

/** Of the scan under way in the store; of none, nothing. */
export async function loadMetLeads(db: Db): Promise<MetLeads> {
  const met = createMetLeads()
  for (let after = -1; ; ) {
    const pages = await db
      .selectFrom('sync_scan_page')
      .where('page', '>', after)
      .orderBy('page')
      .limit(CHUNK_PAGES)
      .selectAll()
      .execute()
    for (const page of pages) for (const each of metOf(page.met)) met.note(each, page.pass)
    const last = pages.at(-1)
    if (last === undefined) return met
    after = last.page
    await new Promise(setImmediate)
  }
}

export interface MetOnPage {
  readonly page: number
  readonly pass: number
  readonly met: readonly Met[]
}

export async function saveMet(trx: Trx, { met, ...page }: MetOnPage): Promise<void> {
  await trx
    .insertInto('sync_scan_page')
    .values({ ...page, met: JSON.stringify(met) })
    .execute()
}

export function createMetLeads(): MetLeads {
  let passes = new Uint8Array(1024)
  const others = new Map<string, number>()
  const note = (met: Met, pass: number): void => {
    if (typeof met === 'string') {
      others.set(met, pass)
      return
    }
    if (met >= passes.length) passes = grown(passes, met)
    passes[met] = pass
  }
  return {
    passOf: (met) => (typeof met === 'string' ? others.get(met) : passes[met]) ?? 0,
    note,
    number(id, no) {
      const pass = others.get(id)
      if (pass !== undefined) note(no, pass)
    },
    count: () => passes.reduce((sum, pass) => (pass === 0 ? sum : sum + 1), others.size),
    missing(last) {
      const nos: number[] = []
      for (let no = 1; no <= last; no++) if ((passes[no] ?? 0) === 0) nos.push(no)
      return nos
    },
  }
}

function metOf(json: string): Met[] {
  return JSON.parse(json)
}

function grown(passes: Uint8Array<ArrayBuffer>, no: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(no * 2)
  larger.set(passes)
  return larger
}
