/** A page of leads on its way into the store: mapped, and written with the cursor after it in one transaction. */
import { LeadsheetError } from '../errors.ts'
import type { HeldRow, Instant, Lead } from '../model.ts'
import { pathText } from '../source/field-path.ts'
import { isHeld } from '../source/mapping.ts'
import type { Source } from '../source/open.ts'
import type { RawRecord } from '../source/raw-record.ts'
import { releaseHeldRows, saveHeldRows } from '../store/held-row.ts'
import { saveLeads } from '../store/lead.ts'
import { forgetAbsence } from '../store/removal.ts'
import { advanceScan, type Scan, type ScanStep } from '../store/scan.ts'
import { addCounts } from '../store/sync-run.ts'
import { type SyncRun, writeHolding } from './sync-run.ts'

/** How far apart our clock and the upstream's may be. */
export const CLOCK_SKEW_MS = 2 * 60_000

export interface MappedPage {
  readonly leads: readonly Lead[]
  readonly held: readonly HeldRow[]
  /** Of all records that have one, held ones too: they are there upstream. In the order of the page. */
  readonly ids: readonly string[]
  readonly rows: number
}

/** @throws LeadsheetError api_unexpected when none of the records has an id */
export function mapPage(source: Source, records: readonly RawRecord[]): MappedPage {
  const mapped = records.map((record) => source.mapLead(record.value, record.text))
  const ids = mapped.flatMap(({ id }) => (id === null ? [] : [id]))
  if (ids.length === 0 && records.length > 1) throw withoutIds(source, records)
  return {
    leads: mapped.filter((row): row is Lead => !isHeld(row)),
    held: mapped.filter(isHeld),
    ids,
    rows: records.length,
  }
}

/** Returns the scan after the page, and what the run has read so far. */
export async function savePage(
  run: SyncRun,
  before: Scan,
  page: MappedPage,
  step: Pick<ScanStep, 'cursor' | 'tail' | 'total' | 'repeats' | 'hasMoved' | 'isBroken' | 'isAgain'>,
): Promise<{ scan: Scan; pages: number; seen: number }> {
  const at = run.now()
  const seen = { runId: run.runId, at: at.toISOString() }
  const ids = [...new Set(page.ids)]
  return writeHolding(run, async (trx) => {
    const saved = await saveLeads(trx, page.leads, seen, before.is_remap === 1)
    await saveHeldRows(trx, page.held, seen.at)
    await releaseHeldRows(
      trx,
      'lead',
      page.leads.map((lead) => lead.id),
    )
    await forgetAbsence(trx, ids)
    const { scan, fresh, freshInPass } = await advanceScan(trx, before, {
      ...step,
      ids,
      born: bornSince(page.leads, before.started_at),
      withoutId: page.held.filter((row) => row.id === null).length,
      rows: page.rows,
      mended: page.leads.filter((lead) => lead.mended.length > 0).length,
      cut: page.leads.reduce((sum, lead) => sum + lead.cut, 0),
      maxUpdatedAt: latestUpdate(page.leads),
    })
    // Each lead counts where the scan meets it first, so that the counts add up to the leads seen.
    const countFresh = (some: readonly string[]): number => some.filter((id) => fresh.has(id)).length
    const isNewHere = (row: HeldRow): boolean => row.id === null || freshInPass.has(row.id)
    const counts = await addCounts(trx, run.runId, {
      pages: 1,
      seen: countFresh([...new Set(page.leads.map((lead) => lead.id))]),
      inserted: countFresh(saved.inserted),
      updated: countFresh(saved.updated),
      unchanged: countFresh(saved.unchanged),
      removed: 0,
      held: before.pass === 1 ? page.held.filter(isNewHere).length : 0,
    })
    return { scan, ...counts }
  })
}

function bornSince(leads: readonly Lead[], startedAt: Instant): Set<string> {
  const from = new Date(Date.parse(startedAt) - CLOCK_SKEW_MS).toISOString()
  const isBorn = ({ createdAt, updatedAt }: Lead): boolean => (createdAt ?? updatedAt ?? '') >= from
  return new Set(leads.filter(isBorn).map((lead) => lead.id))
}

function latestUpdate(leads: readonly Lead[]): Instant | null {
  return leads.reduce<Instant | null>(
    (latest, { updatedAt }) =>
      updatedAt !== null && (latest === null || updatedAt > latest) ? updatedAt : latest,
    null,
  )
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
