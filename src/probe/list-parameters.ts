/** Finds the parameters of the lead list that sort it or set the page size, and the maximum page size. */

import { linkNext } from '../upstream/paging/paging.ts'
import type { FieldPath } from '../upstream/values/json.ts'
import { leavesAround, readPath } from '../upstream/values/json.ts'
import { toInstant } from '../upstream/values/scalar.ts'
import type { Asker, Budget, Confidence, Effect, Finding, List, Page, Params } from './ask.ts'
import { apart, clashes, evidenceOf, findEffective, finding, namesFor, readPage } from './ask.ts'
import {
  ASCENDING_PARAMS,
  ROUND_SIZES,
  SIZE_PARAMS,
  SIZE_PARAMS_IN_BRACKETS,
  SIZES,
  SIZES_DOWN,
  SIZES_UP,
  SORT_PARAMS,
  SORT_PARAMS_IN_BRACKETS,
} from './candidates.ts'
import type { SinceSearch } from './since-probe.ts'

const TRIES = 5
const ORDER_QUESTIONS_MAX = 50

/**
 * Finds the parameter that sorts the list. The trials sort by the time of the last change, because no list
 * has that order by chance. If sorting by the time of creation works too, the profile sorts by creation,
 * because records then keep their places while pages are read.
 * @param unordered the largest page
 */
export async function findOrder(
  { asker, list, params, updated, created }: SinceSearch,
  unordered: Page,
): Promise<{ sort: Record<string, string>; finding: Finding } | null> {
  const field = updated.at(-1) ?? ''
  if (unordered.ids.length < 4 || isRising(unordered, updated) || field === '') return null
  const ask = (sort: Params): Promise<Page | null> => readPage(asker, list, { ...params, ...sort })
  const budget = (): Budget => ({ left: Math.min(TRIES, asker.left(ORDER_QUESTIONS_MAX)) })
  const param = await findSortParam(list, params, budget(), async (some) => {
    const page = await ask(Object.fromEntries(some.map((name) => [name, field])))
    if (page === null || page.ids.length === 0) return 'refused'
    const isTurned = isFalling(page, updated) && !isFalling(unordered, updated)
    return isRising(page, updated) || isTurned ? 'effect' : 'none'
  })
  if (param === null) return null
  let sort = { [param]: field }
  let page = await ask(sort)
  if (page !== null && !isRising(page, updated)) {
    const ascending = (names: readonly string[]) => ({
      [param]: field,
      ...Object.fromEntries(names.map((name) => [name, 'asc'])),
    })
    const test = async (some: readonly string[]): Promise<Effect> => {
      const turned = await ask(ascending(some))
      if (turned === null) return 'refused'
      return isRising(turned, updated) ? 'effect' : 'none'
    }
    const directions = ASCENDING_PARAMS.filter((name) => name !== param)
    const direction = await findEffective(directions, test, budget())
    if (direction === null) return null
    sort = ascending([direction])
    page = await ask(sort)
  }
  if (page === null) return null
  const byCreation = { ...sort, [param]: created?.at(-1) ?? '' }
  const createdPage = created === null ? null : await ask(byCreation)
  return created !== null && createdPage !== null && isRising(createdPage, created)
    ? orderOf(createdPage, byCreation, 'oldest first')
    : orderOf(page, sort, 'oldest change first')
}

async function findSortParam(
  { url, isStrict }: List,
  params: Params,
  budget: Budget,
  test: (names: readonly string[]) => Promise<Effect>,
): Promise<string | null> {
  const names = [...SORT_PARAMS, ...SORT_PARAMS_IN_BRACKETS].filter(
    (name) => !url.searchParams.has(name) && !Object.keys(params).some((other) => clashes(name, other)),
  )
  for (const group of apart(names, (name) => name)) {
    const found = await findEffective(group, test, budget, isStrict)
    if (found !== null) return found
  }
  return null
}

function orderOf(page: Page, sort: Record<string, string>, order: string) {
  const pairs = Object.entries(sort).map((pair) => pair.join('='))
  return { sort, finding: finding('sort', pairs.join('&'), 'proved', evidenceOf(page.reply, order)) }
}

const isRising = (page: Page, path: FieldPath) => isSorted(page, path, (before, after) => before <= after)
const isFalling = (page: Page, path: FieldPath) => isSorted(page, path, (before, after) => before >= after)

function isSorted(page: Page, path: FieldPath, holds: (before: string, after: string) => boolean): boolean {
  const times = page.records.map((record) => toInstant(readPath(record, path)) ?? '')
  return (
    times.length > 2 &&
    new Set(times).size > 1 &&
    times.every((time, index) => index === 0 || holds(times[index - 1] ?? '', time))
  )
}

/** Once the whole probe has sent this many requests, it tries no further size parameter. */
const SIZE_QUESTIONS_MAX = 40

export interface PageSize {
  /** The size parameter; null if no parameter changes the size. */
  readonly param: string | null
  /** Parameters that must be sent together with the size, such as `_page=1`. */
  readonly along: Params
  /** A page with only the first few records of the list. It is so small that a second page exists. */
  readonly small: Page
  readonly finding: Finding | null
}

/** @param first the answer to a request for the list without parameters */
export async function findPageSize(asker: Asker, list: List, first: Page): Promise<PageSize> {
  const budget: Budget = { left: asker.left(SIZE_QUESTIONS_MAX) }
  const wanted = smallSize(first.ids.length)
  if (first.ids.length >= 2) {
    const attempts: [readonly string[], Params][] = [
      [namesFor(list, echoedInBrackets(first)), {}],
      [echoedFirst(Object.keys(SIZE_PARAMS), first), {}],
      [namesFor(list, Object.keys(SIZE_PARAMS_IN_BRACKETS)), {}],
      // Some upstreams ignore the size unless a page is requested too.
      [['_per_page', '_limit', '_size', '_perPage'], { _page: '1' }],
      [['per_page', 'limit', 'size', 'page_size', 'pageSize'], { page: '1' }],
    ]
    for (const [params, along] of attempts) {
      if (params.length === 0) continue
      const param = await searchSize(asker, list, params, along, first, budget)
      const small = param === null ? null : await readPage(asker, list, { ...along, [param]: String(wanted) })
      if (param === null || small?.ids.length !== wanted) continue
      const evidence = `${evidenceOf(small.reply, `${wanted} records`)} (${first.ids.length} without it)`
      return { param, along, small, finding: finding('paging.size_param', param, 'proved', evidence) }
    }
  }
  return { param: null, along: {}, small: first, finding: null }
}

/** Each few names get another size, so that the number of records shows which of them had an effect. */
async function searchSize(
  asker: Asker,
  list: List,
  params: readonly string[],
  along: Params,
  first: Page,
  budget: Budget,
): Promise<string | null> {
  const count = first.ids.length
  let likely = params
  if (!list.isStrict && count > 4) {
    const sizes = new Map(params.map((param, index) => [param, 1 + ((index + 1) % (count - 1))]))
    const page = await readPage(asker, list, { ...along, ...asParams(sizes) })
    budget.left--
    const met = params.filter((param) => sizes.get(param) === page?.ids.length)
    if (met.length === 1) return met[0] ?? null
    if (page !== null && page.ids.length === count) return null
    if (met.length > 1) likely = met
  }
  const wanted = smallSize(count)
  const test = async (some: readonly string[]) => {
    const page = await readPage(asker, list, {
      ...along,
      ...asParams(new Map(some.map((name) => [name, wanted]))),
    })
    // An empty page means that the upstream filters by one of these parameters.
    if (page === null || page.ids.length === 0) return 'refused'
    return page.ids.length === wanted ? 'effect' : 'none'
  }
  return findEffective(likely, test, budget, list.isStrict)
}

interface SizeMax {
  readonly max: number
  readonly largest: Page
  readonly finding: Finding
}

/** Requests 1,000 records, then fewer, and counts the records of each answer. */
export async function findSizeMax(
  asker: Asker,
  list: List,
  size: PageSize,
  total: number | null,
  hasMore: (page: Page) => boolean | null,
): Promise<SizeMax> {
  const { param, small } = size
  const ask = (wanted: number): Promise<Page | null> =>
    readPage(asker, list, { ...size.along, [param ?? '']: String(wanted) })
  const result = (max: number, largest: Page, confidence: Confidence, evidence: string): SizeMax => ({
    max,
    largest,
    finding: finding('paging.size_max', String(max), confidence, evidence),
  })
  let best: SizeMax | null = null
  const sizes: number[] = param === null ? [] : [...SIZES_DOWN]
  for (let wanted = sizes.shift(); wanted !== undefined; wanted = sizes.shift()) {
    if (best !== null && wanted <= best.max) break
    const page = await ask(wanted)
    // Some upstreams answer with an empty list if the requested size is too large.
    if (page === null || page.ids.length === 0) {
      if (best !== null) break
      continue
    }
    const count = page.ids.length
    const evidence = evidenceOf(page.reply, `${count} records`)
    if (count === wanted) {
      best = result(wanted, page, 'proved', evidence)
      const larger = wanted < 100 ? [] : SIZES_UP.filter((each) => each > count).slice(0, 1)
      if (wanted === SIZES_DOWN[0] || larger.length === 0) return best
      sizes.splice(0, sizes.length, ...larger)
      continue
    }
    const more = total === null ? hasMore(page) : count < total
    const isWhole = count !== small.ids.length && (more === null ? !isRound(count) : !more)
    if (isWhole) {
      // The answer is the whole list, which has fewer records than were requested. Therefore only a size
      // below the length of the list can be proved.
      const smaller = SIZES.find((each) => each <= count)
      const exact = smaller === undefined ? null : await ask(smaller)
      if (smaller === undefined || exact?.ids.length !== smaller)
        return result(wanted, page, 'likely', `${evidence}, the whole list`)
      const proof = evidenceOf(exact.reply, `${smaller} records; ${wanted} gave the whole list of ${count}`)
      return result(smaller, page, 'proved', proof)
    }
    const confidence = more === true ? 'proved' : 'likely'
    if (best === null || count > best.max) best = result(count, page, confidence, `${evidence}: cut to that`)
    // The upstream cut the page to its own maximum. The smaller sizes cannot give more.
    if (best.max >= 100) break
  }
  const max = small.ids.length
  return best ?? result(max, small, 'likely', evidenceOf(small.reply, `${max} records`))
}

/** Returns a page size so small that a list with `count` records has a second page. */
function smallSize(count: number): number {
  if (count >= 7) return 3
  return count >= 4 ? 2 : 1
}

export function isRound(count: number): boolean {
  return count % 50 === 0 || ROUND_SIZES.some((size) => size === count)
}

/** Moves the names that occur in the answer's body or next link to the front. */
function echoedFirst(params: readonly string[], { reply, envelope }: Page): string[] {
  const link = linkNext(reply.headers.link) ?? ''
  const names = [...leavesAround(reply.body, envelope)].map(({ path }) => path.at(-1) ?? '')
  const echoed = params.filter(
    (param) =>
      names.includes(param) || link.includes(`${param}=`) || link.includes(`${encodeURIComponent(param)}=`),
  )
  return [...new Set([...echoed, ...params])]
}

/** Returns `pagination[pageSize]` if the answer has `pagination.pageSize`. Such a server may refuse other names. */
function echoedInBrackets({ reply, envelope }: Page): string[] {
  const places = [...leavesAround(reply.body, envelope)].map(({ path }) => path.slice(-2).join('.'))
  return Object.keys(SIZE_PARAMS_IN_BRACKETS).filter((name) =>
    places.includes(name.replace(/\[(\w+)\]/, '.$1')),
  )
}

function asParams(values: ReadonlyMap<string, number>): Params {
  return Object.fromEntries([...values].map(([name, value]) => [name, String(value)]))
}
