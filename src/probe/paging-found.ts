/** Builds the paging part of a profile from the findings, and checks it by reading the list page by page. */

import { isEstimate, isWindow } from '../upstream/paging/paging.ts'
import { signsOfNext } from '../upstream/paging/partial-answer.ts'
import { pathText } from '../upstream/values/json.ts'
import type { Asker, Headers } from './ask.ts'
import {
  evidenceOf,
  type Finding,
  finding,
  type Gap,
  gap,
  type List,
  type Page,
  type Params,
  readPage,
} from './ask.ts'
import { SIZES } from './candidates.ts'
import { findPageSize, findSizeMax, isRound, type PageSize } from './list-parameters.ts'
import {
  endPath,
  type FoundTotal,
  findPages,
  findTotal,
  hasMorePath,
  nextCursors,
  nextUrls,
  placeInput,
  placeText,
} from './page-signals.ts'
import { findNextPage, type NextPage, type PagingInput } from './paging-probe.ts'
import { type Walk, walkList } from './verify-paging.ts'

export interface FoundPaging {
  /** The paging for the profile; null if no way to the next page was found. */
  readonly input: PagingInput | null
  readonly findings: readonly Finding[]
  readonly gaps: readonly Gap[]
  /** All records that the probe has seen, each listed once. */
  readonly records: readonly unknown[]
  readonly largest: Page
  /** The query parameters with which the largest page was requested. */
  readonly params: Params
  readonly headers: Headers
  /** Parameters other than size and position that every request for the list needs. */
  readonly along: Params
}

export async function findPaging(asker: Asker, list: List, first: Page): Promise<FoundPaging> {
  const size = await findPageSize(asker, list, first)
  const next = await findNextPage({ asker, list, first, size })
  const pages = next === null ? [size.small] : [size.small, next.second]
  const total = findTotal([...pages, first]) ?? totalOfPages(pages, first)
  if (next === null) return withoutNextPage(list, first, size, total)

  const count = total?.total ?? null
  const sizeMax =
    'unit' in next.paging
      ? await findRangeMax(asker, list, next.paging.unit ?? 'items', count)
      : await findSizeMax(asker, list, size, count, (page) => saysMore(page, next))
  const { largest, max } = sizeMax
  const paging = assemble(size, next, total, sizeMax)
  const read = await walkList(asker, list, paging, alongOf(size, paging), count)
  const found = count ?? (read.ended === 'end' ? read.seen : null)
  const isCut = read.failure === undefined && isWindow(found, total?.place)
  const walk: Walk = isCut ? { ...read, ended: 'cut' } : read
  const input = withEnd(paging, walk, total)
  const second = evidenceOf(next.second.reply, `${next.second.ids.length} records, none of the first page`)
  const walked = walkFinding(walk, count)
  const findings: Finding[] = [
    finding('paging.kind', kindText(input), 'proved', `${next.evidence}; ${second}`),
    ...(size.finding === null ? [] : [size.finding]),
    ...(size.param === null && next.paging.kind !== 'range' ? [] : [sizeMax.finding]),
    ...(total === null ? [] : [totalFinding(total, size.small)]),
    walked,
  ]
  const sizeParams = size.param === null ? {} : { [size.param]: String(max) }
  return {
    input,
    findings,
    gaps: endGaps(input, walk, walked),
    records: seenRecords(walk.pages, [first, largest]),
    largest,
    params: { ...size.along, ...sizeParams },
    headers: 'unit' in input ? rangeHeader(input.unit ?? 'items', max) : {},
    along: alongOf(size, input),
  }
}

/** Reads a page with the paging that an earlier probe found. */
export async function readOn(
  asker: Asker,
  list: List,
  first: Page,
  input: PagingInput,
): Promise<FoundPaging> {
  const max = input.size_max ?? 0
  const params =
    'size_param' in input && input.size_param !== undefined ? { [input.size_param]: String(max) } : {}
  const headers = input.kind === 'range' ? rangeHeader(input.unit ?? 'items', max) : {}
  const largest = (await readPage(asker, list, params, headers)) ?? first
  return { ...unreadPaging(largest), input, params, headers }
}

/** Returns what is known as long as the paging is not. */
export function unreadPaging(first: Page): FoundPaging {
  const byId = new Map(first.records.map((record, index) => [first.ids[index] ?? '', record]))
  return {
    input: null,
    findings: [],
    gaps: [],
    records: [...byId.values()],
    largest: first,
    params: {},
    headers: {},
    along: {},
  }
}

/** Looks for the total only in paged answers, because some upstreams give it only there. */
function totalOfPages(pages: readonly Page[], first: Page): FoundTotal | null {
  const found = findTotal(pages)
  return found !== null && pages.length > 1 && found.total >= first.ids.length ? found : null
}

async function findRangeMax(asker: Asker, list: List, unit: string, total: number | null) {
  const wanted = SIZES[0]
  const headers = rangeHeader(unit, wanted)
  const page = await readPage(asker, list, {}, headers)
  const count = page?.ids.length ?? 0
  const max = page === null ? 25 : total === null || count < total ? count : wanted
  const largest = page ?? (await readPage(asker, list, {}, rangeHeader(unit, max)))
  if (largest === null) throw new Error('a range that was answered before is refused')
  const evidence = evidenceOf(largest.reply, `${largest.ids.length} records`)
  return { max, largest, finding: finding('paging.size_max', String(max), 'likely', evidence) }
}

function rangeHeader(unit: string, size: number): Headers {
  return { range: `${unit}=0-${size - 1}` }
}

/**
 * Returns the result if no second page was found. The first page may be the whole list if its total says so, or if it
 * says itself that no page follows, or if no parameter sets a size and its number of records is no usual page size. A
 * sign of a next page speaks against all of these: the rest then cannot be read.
 */
function withoutNextPage(list: List, first: Page, size: PageSize, total: FoundTotal | null): FoundPaging {
  const count = first.ids.length
  const signs = [
    ...nextUrls(first).map(({ path }) => pathText(path)),
    ...nextCursors(first).map(({ place }) => placeText(place)),
    ...signsOfNext(first.reply.headers, first.reply.body, first.envelope),
  ]
  const end = endPath(first)
  const isOdd = !isRound(count)
  const isWhole = total === null ? end !== null || (size.param === null && isOdd) : total.total === count
  const page = unreadPaging(first)
  const sizeParam = size.param === null ? '' : `, size_param: ${size.param}`
  const remedy = `paging: { kind: page, param: page${sizeParam} }   # or offset, cursor, next_url, link, range, last_id, none`
  if (isWhole && signs.length === 0) {
    // A total that stays where the size changes does not count one page.
    const isProved = end !== null || (total !== null && (isOdd || size.small.ids.length !== count))
    const why =
      end !== null
        ? `${pathText(end)} says that no page follows`
        : total !== null
          ? 'as many as its total says'
          : `no parameter changes their number, and ${count} is no page size`
    const evidence = evidenceOf(first.reply, `${count} records: ${why}`)
    const input: PagingInput = { kind: 'none', ...(total === null ? {} : { total: placeInput(total.place) }) }
    const problem = `nothing shows that these ${count} records are all of ${list.url.pathname}`
    const look = `look in the upstream how many there are; for more, ${remedy}`
    return {
      ...page,
      input,
      findings: [finding('paging.kind', 'none', isProved ? 'proved' : 'likely', evidence)],
      // No upstream is known to cut a page to an odd number above the usual sizes.
      gaps: isProved || count > Math.max(...SIZES) ? [] : [gap('paging', problem, look)],
    }
  }
  const seen =
    signs.length === 0
      ? ''
      : `; the answer has ${[...new Set(signs)].join(', ')}, but no parameter tried takes it`
  const of = total === null ? '' : ` of ${total.total}`
  const problem = `${evidenceOf(first.reply, `${count}${of} records`)}: cannot tell how to go on from ${list.url.pathname}${seen}`
  return {
    ...page,
    findings: size.finding === null ? [] : [size.finding],
    gaps: [gap('paging', problem, remedy)],
  }
}

function assemble(
  { param, small }: PageSize,
  { paging }: NextPage,
  total: FoundTotal | null,
  { max, largest }: { readonly max: number; readonly largest: Page },
): PagingInput {
  const more = /^(page|offset|cursor|last_id)$/.test(paging.kind) ? hasMorePath(small) : null
  const pages = paging.kind === 'page' ? findPages([small, largest], total?.total ?? null) : null
  return {
    ...paging,
    ...(param === null || paging.kind === 'range' ? {} : { size_param: param }),
    ...(param === null && paging.kind !== 'range' ? {} : { size_max: max }),
    ...(more === null ? {} : { has_more: pathText(more) }),
    ...(pages === null ? {} : { pages: placeInput(pages) }),
    ...(total === null ? {} : { total: placeInput(total.place) }),
  } as PagingInput
}

/**
 * Needed if the upstream answers a request past the last page with an error, or with the last page again. A total that
 * is an estimate or too low does not tell that page.
 */
function withEnd(paging: PagingInput, { ended, seen }: Walk, total: FoundTotal | null): PagingInput {
  const isCounted = paging.kind === 'page' || paging.kind === 'offset'
  const isOdd = ended === 'refused' || ended === 'repeated'
  const isTold = total !== null && !isEstimate(total.place) && seen <= total.total
  return isCounted && isOdd && isTold ? { ...paging, stop_at_total: true } : paging
}

const HAS_MORE = 'paging.has_more or paging.pages: where an answer says that it is the last one'

/** Each end of a walk in words, and what a person must do about it. */
const ENDS: Readonly<Record<Walk['ended'], readonly [said: string, remedy: string | null]>> = {
  end: ['the end', null],
  'not reached': ['more behind', null],
  refused: ['an error behind the last page', HAS_MORE],
  repeated: ['the last page again behind it', HAS_MORE],
  failed: ['a page that fails', 'look in the upstream why this page fails, and probe again'],
  cut: ['a number at which many searches are cut off', 'look in the upstream how many leads there are'],
  uncounted: ['more than the total counts', 'look in the upstream what it counts, or take paging.total out'],
}

function endGaps(paging: PagingInput, { ended }: Walk, { evidence }: Finding): Gap[] {
  const [, remedy] = ENDS[ended]
  if (remedy === null || ('stop_at_total' in paging && paging.stop_at_total)) return []
  return [gap('paging', `${evidence}: nothing tells a sync where the list ends`, remedy)]
}

/** Returns `along` without the parameters that the paging sets itself, such as `_page`. */
function alongOf({ along }: PageSize, paging: PagingInput): Params {
  const own = 'param' in paging ? paging.param : ''
  return Object.fromEntries(Object.entries(along).filter(([name]) => name !== own && paging.kind !== 'page'))
}

/** Returns whether a page says that more records follow; null if this kind of paging does not say so. */
function saysMore(page: Page, { paging }: NextPage): boolean | null {
  if (hasMorePath(page) !== null) return true
  if (paging.kind === 'link') return /rel="?next/i.test(String(page.reply.headers.link ?? ''))
  if (paging.kind === 'next_url') return nextUrls(page).length > 0
  if (paging.kind === 'cursor') return nextCursors(page).length > 0
  return null
}

function totalFinding({ place, total }: FoundTotal, page: Page): Finding {
  const evidence = `${evidenceOf(page.reply)}: ${total}, the same with pages of another size`
  return finding('paging.total', placeText(place), 'likely', evidence)
}

function walkFinding({ pages, seen, ended, failure }: Walk, total: number | null): Finding {
  const isAll = ended === 'end' && (total === null || total === seen)
  const of = total === null ? '' : ` of ${total}`
  const what = failure === undefined ? '' : ` (${evidenceOf(failure)})`
  const evidence = `${pages.length} pages as a sync reads them: ${seen}${of} records, then ${ENDS[ended][0]}${what}`
  return isAll
    ? finding('paging', 'reads to the end', 'proved', evidence)
    : finding('paging', `reads on: ${ENDS[ended][0]}`, 'likely', evidence)
}

function kindText(paging: PagingInput): string {
  const param =
    'param' in paging ? ` by ${paging.param}` : 'next' in paging ? ` at ${String(paging.next)}` : ''
  const start = 'start' in paging ? ` from ${paging.start}` : ''
  return `${paging.kind}${param}${start}`
}

/**
 * Lists each record once. If two records of the pages in `walked` have the same id but different content,
 * both are listed, so that the repeated id is noticed. A record of another page is left out if its id is
 * known, because the record may only have changed in between.
 */
function seenRecords(walked: readonly Page[], others: readonly Page[]): unknown[] {
  const byText = new Map(walked.flatMap(({ records }) => records).map((each) => [JSON.stringify(each), each]))
  const ids = new Set(walked.flatMap((page) => page.ids))
  const unread = others
    .flatMap(({ records, ids: theirs }) =>
      records.map((record, index) => [theirs[index] ?? '', record] as const),
    )
    .filter(([id]) => !ids.has(id))
  return [...byText.values(), ...new Map(unread).values()]
}
