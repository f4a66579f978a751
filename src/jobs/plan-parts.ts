/**
 * How a list of leads is parted, so that several processes can read it beside each other: by the time of their last
 * update, by pipeline, or by ranges of pages, as far as the upstream allows. Asked for by totals, not by reading.
 */
import { LeadsheetError } from '../errors.ts'
import type { Instant } from '../model.ts'
import { isHeld } from '../source/mapping.ts'
import type { RawPage, Source } from '../source/open.ts'
import { updateOf } from '../source/part.ts'
import { isNumbered } from '../source/shifting.ts'
import { listPipelineIdsInUse } from '../store/pipeline.ts'
import type { PartBounds } from '../store/sync-part.ts'
import type { SyncRun } from './sync-run.ts'

/** Fewer are read as quickly by one. */
const PAGES_MIN = 8
const PARTS_MAX = 64
/** Requests a part to find its bounds by. */
const PROBES_A_PART = 4
/** Where one part would have more of the leads, the others help too little. */
const SHARE_MAX = 0.7
/** Pipelines that are known may lack so many of the leads: while they are counted some come and go. */
const UNKNOWN_MAX = 0.01
/** Of two bounds that cannot be told apart in every format of an upstream. */
const SPAN_MIN_MS = 2_000

const WHOLE: PartBounds = { pipelineId: null, since: null, until: null, from: null, to: null }

export interface Plan {
  /** Of the whole list, by the upstream's own count. */
  readonly total: number
  readonly parts: readonly PartBounds[]
}

/** Null where the list is short, or cannot be parted so that nothing is lost. */
export async function planParts(run: SyncRun): Promise<Plan | null> {
  try {
    const first = await run.source.listLeads({}, null, run.options.pageSize, { signal: run.options.signal })
    const rows = first.records.length
    const { total } = first
    if (total === null || rows === 0 || total / rows < PAGES_MIN) return null
    const count = Math.min(PARTS_MAX, Math.ceil(Math.sqrt(total / rows)))
    const parts =
      (await partByTime(run, first, total, count)) ??
      (await partByPipeline(run, first, total)) ??
      partByPages(run.source, rows, total, count)
    return parts === null ? null : { total, parts }
  } catch (thrown) {
    // The reading of the whole list meets it too, and tells of it.
    if (thrown instanceof LeadsheetError || run.options.signal.aborted) return null
    throw thrown
  }
}

/** How many leads were last updated in a span of time. */
interface Span {
  readonly from: number
  readonly until: number
  readonly leads: number
}

/** Only of a list in the order of its updates: where that breaks, a part is read to the end of the list. */
async function partByTime(
  run: SyncRun,
  first: RawPage,
  total: number,
  count: number,
): Promise<PartBounds[] | null> {
  const { source } = run
  if (!source.hasUpdatedSince) return null
  const updates = first.records.map((record) => updateOf(source, record))
  const isInOrder = updates.every((at, index) => at !== null && at >= (updates[index - 1] ?? ''))
  const from = Date.parse(updates[0] ?? '')
  if (!isInOrder || Number.isNaN(from)) return null
  const wanted = total / count
  let spans: Span[] = [{ from, until: run.now().getTime(), leads: total }]
  let probes = PROBES_A_PART * count
  while (probes > 0 && spans.some((span) => isDivisible(span, wanted))) {
    const split = await inOrder(run, spans, async (span) => {
      if (!isDivisible(span, wanted) || probes-- <= 0) return [span]
      return splitSpan(run, span, spans)
    })
    spans = split.flat()
  }
  const merged = mergeSpans(spans, wanted)
  if (merged.length < 2 || merged.some(({ leads }) => leads > total * SHARE_MAX)) return null
  return merged.map((span, index) => ({
    ...WHOLE,
    // Whether the upstream counts the instant itself or not.
    since: index === 0 ? null : instantOf(span.from - 1),
    until: index === merged.length - 1 ? null : instantOf(span.until),
  }))
}

function isDivisible({ from, until, leads }: Span, wanted: number): boolean {
  return leads > wanted && until - from > SPAN_MIN_MS
}

async function splitSpan(run: SyncRun, span: Span, spans: readonly Span[]): Promise<Span[]> {
  const middle = Math.floor((span.from + span.until) / 2)
  const behind = spans.filter(({ from }) => from >= span.until).reduce((sum, { leads }) => sum + leads, 0)
  const late = (await countLeads(run, { updatedSince: instantOf(middle) })) - behind
  const leads = Math.max(0, Math.min(span.leads, late))
  return [
    { from: span.from, until: middle, leads: span.leads - leads },
    { from: middle, until: span.until, leads },
  ]
}

/** Neighbours together, up to as many leads as are wanted. */
function mergeSpans(spans: readonly Span[], wanted: number): Span[] {
  const merged: Span[] = []
  for (const span of spans) {
    const last = merged.at(-1)
    if (last === undefined || last.leads + span.leads > wanted) merged.push(span)
    else merged[merged.length - 1] = { ...last, until: span.until, leads: last.leads + span.leads }
  }
  return merged
}

/** Only where those that are known have nearly all leads, and one that moves between them shows among the changes. */
async function partByPipeline(run: SyncRun, first: RawPage, total: number): Promise<PartBounds[] | null> {
  const { source, store, options } = run
  if (!source.hasUpdatedSince || source.profile.filters.pipeline === undefined) return null
  const told = first.records.flatMap((record) => {
    const lead = source.mapLead(record.value, record.text)
    return isHeld(lead) ? [] : [lead.pipelineId]
  })
  const ids = [...new Set([...told, ...(await listPipelineIdsInUse(store.db)), ...options.pipelineIds])]
  const counts = await inOrder(run, ids, async (id) => ({
    id,
    leads: await countLeads(run, { pipelineId: id }),
  }))
  const sum = counts.reduce((all, { leads }) => all + leads, 0)
  if (sum < total * (1 - UNKNOWN_MAX) || counts.some(({ leads }) => leads > total * SHARE_MAX)) return null
  return counts.filter(({ leads }) => leads > 0).map(({ id }) => ({ ...WHOLE, pipelineId: id }))
}

function partByPages(source: Source, rows: number, total: number, count: number): PartBounds[] | null {
  const { paging } = source.profile
  if (!isNumbered(paging)) return null
  const start = 'start' in paging ? paging.start : 0
  const pages = Math.ceil(total / rows / count)
  const positions = Array.from({ length: count }, (_, index) =>
    String(start + index * pages * (paging.kind === 'page' ? 1 : rows)),
  )
  return positions.map((from, index) => ({
    ...WHOLE,
    from: index === 0 ? null : from,
    to: positions[index + 1] ?? null,
  }))
}

/** @throws LeadsheetError api_unexpected where the upstream no longer tells */
async function countLeads(
  run: SyncRun,
  filters: { readonly updatedSince?: Instant; readonly pipelineId?: string },
): Promise<number> {
  const { total } = await run.source.listLeads(filters, null, 1, { signal: run.options.signal })
  if (total === null)
    throw new LeadsheetError('api_unexpected', 'the list of leads no longer tells its total')
  return total
}

/** So many at once as the profile allows. */
async function inOrder<T, R>(
  { source }: SyncRun,
  items: readonly T[],
  ask: (item: T) => Promise<R>,
): Promise<R[]> {
  const answers: R[] = []
  const { concurrency } = source.profile.limits
  for (let from = 0; from < items.length; from += concurrency)
    answers.push(...(await Promise.all(items.slice(from, from + concurrency).map(ask))))
  return answers
}

function instantOf(ms: number): Instant {
  return new Date(ms).toISOString()
}
