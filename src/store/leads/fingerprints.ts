/** Hashes of records. A record with a stored hash is unchanged, so it is neither parsed nor looked up. */
import { sql } from 'kysely'
import type { Lead } from '../../domain/model.ts'
import { insertRows, numbersOf } from '../db/rows.ts'
import type { Db, Trx } from '../db/store.ts'

/** The maximum number of leads that one query reads. Other work runs between two queries. */
const CHUNK_LEADS = 20_000

/** A lead and the hash of its record, as two unsigned 32-bit halves. */
export interface Fingerprint {
  readonly no: number
  readonly high: number
  readonly low: number
}

export async function loadFingerprints(db: Db): Promise<NumberIndex> {
  const { rows: last } = await sql<{
    no: number | null
  }>`SELECT max(lead_no) AS no FROM lead_fingerprint`.execute(db)
  const end = last[0]?.no ?? 0
  const hashes = createNumberIndex(end)
  for (let from = 1; from <= end; from += CHUNK_LEADS) {
    // Joins all rows into two texts, because a row for each lead would take as much time as looking up a lead.
    const { rows } = await sql<{ nos: string | null; hex: string | null }>`
      SELECT string_agg(CAST(lead_no AS text), ' ') AS nos, string_agg(fingerprint, '') AS hex FROM lead_fingerprint
      WHERE lead_no BETWEEN ${from} AND ${from + CHUNK_LEADS - 1}`.execute(db)
    const halves = Buffer.from(rows[0]?.hex ?? '', 'hex')
    for (const [index, no] of (rows[0]?.nos?.split(' ') ?? []).entries())
      hashes.set(Number(no), halves.readUInt32BE(8 * index), halves.readUInt32BE(8 * index + 4))
    await new Promise(setImmediate)
  }
  return hashes
}

export async function saveFingerprints(
  trx: Trx,
  fingerprints: readonly Fingerprint[],
  areNew: boolean,
): Promise<void> {
  const halves = Buffer.alloc(8 * fingerprints.length)
  for (const [index, { high, low }] of fingerprints.entries())
    halves.writeUInt32BE(low, halves.writeUInt32BE(high, 8 * index))
  const hex = halves.toString('hex')
  const rows = fingerprints.map(({ no }, index) => ({
    lead_no: no,
    fingerprint: hex.slice(16 * index, 16 * index + 16),
  }))
  await insertRows(trx, 'lead_fingerprint', rows, areNew ? undefined : { key: ['lead_no'] })
}

/** Deletes fingerprints, so that the next record of each of these leads is read even if it is unchanged. */
export async function forgetFingerprints(trx: Trx, leadNos: readonly number[]): Promise<void> {
  if (leadNos.length === 0) return
  await trx.deleteFrom('lead_fingerprint').where('lead_no', 'in', numbersOf(leadNos)).execute()
}

/** Each scan maps it again and tells of its cleaned, cut or unsure values. */
export function isReadAnew({ cleaned, cut, unsure }: Lead): boolean {
  return cleaned.length > 0 || cut > 0 || unsure.length > 0
}

/** The minimum number of slots of the hash table for each lead. With fewer slots, searches get long. */
const SLOTS_A_LEAD = 1.5
const SLOTS_MIN = 1024

export type NumberIndex = ReturnType<typeof createNumberIndex>

/**
 * Maps 64-bit hashes to numbers of leads, by open addressing at about 16 bytes a lead. It grows beyond
 * `leads`.
 */
export function createNumberIndex(leads = 0) {
  let slots = new Uint32Array(slotsFor(leads))
  let used = 0
  // The halves of the hashes, by the number of the lead. Two halves of 0 mean that the lead has no hash.
  // `find` never returns such a lead.
  let highs = new Uint32Array(leads + 1)
  let lows = new Uint32Array(leads + 1)

  /** Returns the slot that has a hash, or the empty slot where the hash belongs. */
  function slotOf(high: number, low: number): number {
    const mask = slots.length - 1
    for (let slot = (low ^ high) & mask; ; slot = (slot + 1) & mask) {
      const no = slots[slot] ?? 0
      if (no === 0 || (highs[no] === high && lows[no] === low)) return slot
    }
  }

  function widen(): void {
    const before = slots
    slots = new Uint32Array(slots.length * 2)
    used = 0
    for (const no of before) {
      if (no === 0) continue
      const slot = slotOf(highs[no] ?? 0, lows[no] ?? 0)
      if (slots[slot] === 0) used++
      slots[slot] = no
    }
  }

  return {
    /** Finds the number of the lead with this hash; null where no lead has it. */
    find(high: number, low: number): number | null {
      const no = slots[slotOf(high, low)] ?? 0
      return no === 0 || (high === 0 && low === 0) ? null : no
    },
    /** Sets or replaces the hash of a lead. The numbers of leads start at 1 and have no large gaps. */
    set(no: number, high: number, low: number): void {
      if (no >= highs.length) {
        highs = grown(highs, no)
        lows = grown(lows, no)
      }
      highs[no] = high
      lows[no] = low
      if ((used + 1) * SLOTS_A_LEAD > slots.length) widen()
      const slot = slotOf(high, low)
      if (slots[slot] === 0) used++
      slots[slot] = no
    },
    forget(no: number): void {
      if (no >= highs.length) return
      highs[no] = 0
      lows[no] = 0
    },
  }
}

function slotsFor(leads: number): number {
  return Math.max(SLOTS_MIN, 2 ** Math.ceil(Math.log2((leads + 1) * SLOTS_A_LEAD)))
}

function grown(array: Uint32Array<ArrayBuffer>, no: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.ceil(no * 1.5) + 1)
  larger.set(array)
  return larger
}
