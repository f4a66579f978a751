/** A page of leads on its way into the store: mapped, and written with the cursor after it in one transaction. */
import { LeadsheetError } from '../errors.ts'
import type { HeldRow, Instant, Lead } from '../model.ts'
import { pathText } from '../source/field-path.ts'
import { isHeld } from '../source/mapping.ts'
import type { Source } from '../source/open.ts'
import type { FindKnown, RawRecord } from '../source/raw-record.ts'
import { outdateDetails } from '../store/detail.ts'
import { releaseHeldRows, saveHeldRows } from '../store/held-row.ts'
import { type Fingerprint, forgetFingerprints, saveFingerprints } from '../store/known-leads.ts'
import { findLeadNos, insertLeads, readTimes, type SavedLead, saveLeads } from '../store/lead.ts'
import type { Met } from '../store/met-leads.ts'
import type { Trx } from '../store/open.ts'
import { forgetAbsence } from '../store/removal.ts'
import { advanceScan, type Scan, type ScanStep } from '../store/scan.ts'
import { addCounts } from '../store/sync-run.ts'
import type { ScanMemory } from './scan-memory.ts'
import { type SyncRun, writeHolding } from './sync-run.ts'

/** How far apart our clock and the upstream's may be. */
export const CLOCK_SKEW_MS = 2 * 60_000

export interface MappedPage {
  /** Numbers of the leads whose records are as they were stored. */
  readonly known: readonly number[]
  readonly leads: readonly Lead[]
  readonly held: readonly HeldRow[]
  /** All of the page, and that of each of the leads. */
  readonly records: readonly RawRecord[]
  readonly recordOf: ReadonlyMap<Lead, RawRecord>
}

/** @throws LeadsheetError api_unexpected when none of the records has an id */
export function mapPage(source: Source, records: readonly RawRecord[], findKnown: FindKnown): MappedPage {
  const known = new Set<number>()
  const leads = new Map<Lead, RawRecord>()
  const held: HeldRow[] = []
  for (const record of records) {
    // Not what was known when the page came in: pages before it have been written since.
    const no = findKnown(record.high, record.low)
    if (no !== null) {
      known.add(no)
      continue
    }
    const mapped = source.mapLead(record.value, record.text)
    if (isHeld(mapped)) held.push(mapped)
    else leads.set(mapped, record)
  }
  const isWithoutIds = held.length === records.length && held.every((row) => row.id === null)
  if (isWithoutIds && records.length > 1) throw withoutIds(source, records)
  return { known: [...known], leads: [...leads.keys()], held, records, recordOf: leads }
}

/** Returns the scan after the page, and what the run has read so far. */
export async function savePage(
  run: SyncRun,
  before: Scan,
  mapped: MappedPage,
  step: Pick<ScanStep, 'cursor' | 'tail' | 'total' | 'repeats' | 'hasMoved' | 'isBroken' | 'isAgain'>,
  memory: ScanMemory,
): Promise<{ scan: Scan; pages: number; seen: number }> {
  const at = run.now()
  const seen = { runId: run.runId, at: at.toISOString() }
  const isAllNew = memory.firstLoad?.takes(leadIdsOf(mapped), heldIdsOf(mapped)) === true
  if (!isAllNew) await memory.firstLoad?.end()
  const page = isAllNew ? mapped : await mapRepeated(run, mapped, memory)
  const done = await writeHolding(run, async (trx) => {
    const saved = isAllNew
      ? await insertLeads(trx, page.leads, seen)
      : await saveLeads(trx, page.leads, seen, before.is_remap === 1)
    const updated = saved.filter(({ change }) => change === 'updated')
    await outdateDetails(
      trx,
      updated.map(({ no }) => no),
      seen.at,
    )
    const fingerprints = fingerprintsOf(before, saved, page)
    await saveFingerprints(trx, fingerprints)
    await hold(trx, page, seen.at, memory)
    const heldNos = isAllNew ? new Map<string, number>() : await findLeadNos(trx, heldIdsOf(page))
    // Else the record that was stored before would pass for the present one when it comes again.
    const unknown = [...heldNos.values(), ...saved.filter(isUnknown).map(({ no }) => no)]
    await forgetFingerprints(trx, unknown)
    const savedNos = new Set(saved.map(({ no }) => no))
    const known = page.known.filter((no) => !savedNos.has(no))
    for (const { lead, no } of saved) memory.met.number(lead.id, no)
    const met = metOn(page, [...known, ...savedNos], heldNos)
    const fresh = met.filter((each) => memory.met.passOf(each) === 0)
    const isFresh = new Set(fresh)
    await forgetAbsence(
      trx,
      met.filter((each) => typeof each === 'number').filter((no) => memory.absent.has(no)),
    )
    const born = bornSince(before.started_at)
    const told = await readTimes(
      trx,
      known.filter((no) => isFresh.has(no)),
      born,
    )
    const isBorn = ({ no, lead }: SavedLead): boolean =>
      isFresh.has(no) && (lead.createdAt ?? lead.updatedAt ?? '') >= born
    const scan = await advanceScan(trx, before, {
      ...step,
      met,
      fresh: fresh.length,
      freshInPass: met.filter((each) => memory.met.passOf(each) !== before.pass).length,
      born: saved.filter(isBorn).length + told.created,
      withoutId: page.held.filter((row) => row.id === null).length,
      rows: page.records.length,
      mended: page.leads.filter((lead) => lead.mended.length > 0).length,
      cut: page.leads.reduce((sum, lead) => sum + lead.cut, 0),
      maxUpdatedAt: latestOf([told.updatedAt, ...page.leads.map((lead) => lead.updatedAt)]),
    })
    // Each lead counts where the scan meets it first, so that the counts add up to the leads seen.
    const count = (change: SavedLead['change']): number =>
      saved.filter((lead) => lead.change === change && isFresh.has(lead.no)).length
    const knownFresh = known.filter((no) => isFresh.has(no)).length
    const savedFresh = saved.filter(({ no }) => isFresh.has(no)).length
    const isNewHere = (row: HeldRow): boolean => row.id === null || isFresh.has(heldNos.get(row.id) ?? row.id)
    const counts = await addCounts(trx, run.runId, {
      pages: 1,
      seen: savedFresh + knownFresh,
      inserted: count('inserted'),
      updated: count('updated'),
      unchanged: count('unchanged') + knownFresh,
      removed: 0,
      held: before.pass === 1 ? page.held.filter(isNewHere).length : 0,
    })
    return { scan, met, fingerprints, unknown, ...counts }
  })
  for (const each of done.met) {
    memory.met.note(each, before.pass)
    if (typeof each === 'number') memory.absent.delete(each)
  }
  for (const { no, high, low } of done.fingerprints) memory.known.set(no, high, low)
  for (const no of done.unknown) memory.known.forget(no)
  return done
}

/** A page that tells of one lead twice, as it was stored and otherwise, with both of them mapped. */
async function mapRepeated(run: SyncRun, page: MappedPage, memory: ScanMemory): Promise<MappedPage> {
  if (page.known.length === 0) return page
  const nos = await findLeadNos(run.store.db, [...leadIdsOf(page), ...heldIdsOf(page)])
  const repeated = new Set(nos.values()).intersection(new Set(page.known))
  if (repeated.size === 0) return page
  return mapPage(run.source, page.records, (high, low) => {
    const no = memory.known.find(high, low)
    return no !== null && repeated.has(no) ? null : no
  })
}

function leadIdsOf(page: MappedPage): string[] {
  return page.leads.map((lead) => lead.id)
}

function heldIdsOf(page: MappedPage): string[] {
  return page.held.flatMap(({ id }) => (id === null ? [] : [id]))
}

/** Keeps what cannot be mapped and releases what can be now. */
async function hold(trx: Trx, page: MappedPage, at: Instant, memory: ScanMemory): Promise<void> {
  await saveHeldRows(trx, page.held, at)
  if (page.held.length > 0) memory.hasHeld = true
  if (memory.hasHeld) {
    await releaseHeldRows(trx, 'lead', leadIdsOf(page))
  }
}

/** All that is there upstream, held records too, each once. */
function metOn(page: MappedPage, leads: readonly number[], heldNos: ReadonlyMap<string, number>): Met[] {
  const held = heldIdsOf(page).map((id) => heldNos.get(id) ?? id)
  return [...new Set<Met>([...leads, ...held])]
}

/** A lead whose record was mended or cut is read anew each time, so that each scan can tell of it. */
function isUnknown({ lead }: SavedLead): boolean {
  return lead.mended.length > 0 || lead.cut > 0
}

/** In a scan of changes, which knows no lead, one that is unchanged has its fingerprint already. */
function fingerprintsOf(scan: Scan, saved: readonly SavedLead[], page: MappedPage): Fingerprint[] {
  return saved.flatMap((one) => {
    const { no, lead, isLate, change } = one
    const record = page.recordOf.get(lead)
    if (record === undefined || isLate || isUnknown(one)) return []
    if (scan.mode === 'incremental' && change === 'unchanged') return []
    return [{ no, high: record.high, low: record.low }]
  })
}

function bornSince(startedAt: Instant): Instant {
  return new Date(Date.parse(startedAt) - CLOCK_SKEW_MS).toISOString()
}

function latestOf(times: readonly (Instant | null)[]): Instant | null {
  return times.reduce((latest, at) => (at !== null && (latest === null || at > latest) ? at : latest), null)
}

function withoutIds(source: Source, records: readonly RawRecord[]): LeadsheetError {
  const places = (source.profile.mapping.lead.id?.from ?? []).map(pathText).join(' or ')
  const first = records[0]?.value
  const names = typeof first === 'object' && first !== null ? Object.keys(first).slice(0, 20).join(', ') : ''
  return new LeadsheetError(
    'api_unexpected',
    `None of ${records.length} leads on a page has an id at ${places}; the first one has ${names || 'no fields'}`,
    {
      hint: 'Nothing of the page was stored. Correct mapping.lead.id in the profile, or look at the upstream.',
    },
  )
}
