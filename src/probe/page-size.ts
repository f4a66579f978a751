/** Finds the parameter that sets the page size, and the largest page. */
import { linkNext } from '../upstream/paging/paging.ts'
import { leavesAround } from '../upstream/values/json-shape.ts'
import type { Asker } from './ask.ts'
import { type Budget, findEffective } from './bisect.ts'
import { ROUND_SIZES, SIZE_PARAMS, SIZE_PARAMS_IN_BRACKETS, SIZES } from './candidates.ts'
import { evidenceOf, type Finding, type List, type Page, type Params, readPage } from './probed-page.ts'

/** The total number of requests after which no further size parameter is tried. */
const QUESTIONS_MAX = 40

export interface PageSize {
  /** The size parameter; null if no parameter changes the size. */
  readonly param: string | null
  /** Parameters without which the server ignores the size, such as `_page=1`. */
  readonly along: Params
  /** A small page with the first records. It is small enough that records are left for a second page. */
  readonly small: Page
  readonly finding: Finding | null
}

/**
 * Finds the parameter that sets the page size.
 * @param first the answer of the list without parameters
 */
export async function findPageSize(asker: Asker, list: List, first: Page): Promise<PageSize> {
  const budget: Budget = { left: asker.left(QUESTIONS_MAX) }
  const wanted = smallSize(first.ids.length)
  if (first.ids.length >= 2) {
    const attempts: [readonly string[], Params][] = [
      [echoedFirst(Object.keys(SIZE_PARAMS), first), {}],
      [Object.keys(SIZE_PARAMS_IN_BRACKETS), {}],
      // Some upstreams split the list into pages only if a page is requested.
      [['_per_page', '_limit', '_size', '_perPage'], { _page: '1' }],
      [['per_page', 'limit', 'size', 'page_size', 'pageSize'], { page: '1' }],
    ]
    for (const [params, along] of attempts) {
      const param = await searchSize(asker, list, params, along, first, budget)
      const small = param === null ? null : await readPage(asker, list, { ...along, [param]: String(wanted) })
      if (param === null || small?.ids.length !== wanted) continue
      const finding: Finding = {
        place: 'paging.size_param',
        value: param,
        confidence: 'proved',
        evidence: `${evidenceOf(small.reply, `${wanted} records`)} (${first.ids.length} without it)`,
      }
      return { param, along, small, finding }
    }
  }
  return { param: null, along: {}, small: first, finding: null }
}

/**
 * Finds the parameter by giving each name a different size, so that one answer shows which name counts. If
 * the server refuses this, halves of the names are tried.
 */
async function searchSize(
  asker: Asker,
  list: List,
  params: readonly string[],
  along: Params,
  first: Page,
  budget: Budget,
): Promise<string | null> {
  const count = first.ids.length
  if (!list.isStrict && count > params.length + 2) {
    const sizes = new Map(params.map((param, index) => [param, index + 2]))
    const page = await readPage(asker, list, { ...along, ...asParams(sizes) })
    budget.left--
    const met = params.find((param) => sizes.get(param) === page?.ids.length)
    if (met !== undefined) return met
    if (page !== null && page.ids.length === count) return null
  }
  const wanted = smallSize(count)
  const test = async (some: readonly string[]) => {
    const page = await readPage(asker, list, {
      ...along,
      ...asParams(new Map(some.map((name) => [name, wanted]))),
    })
    // An empty page means that the upstream takes one of the names for a filter.
    if (page === null || page.ids.length === 0) return 'refused'
    return page.ids.length === wanted ? 'effect' : 'none'
  }
  return findEffective(params, test, budget, list.isStrict)
}

/**
 * Finds the largest page by requesting 1,000 records and then fewer, and counting the records of each answer.
 * @param total the number of all records; null if unknown
 */
export async function findSizeMax(
  asker: Asker,
  list: List,
  size: PageSize,
  total: number | null,
  hasMore: (page: Page) => boolean | null,
): Promise<{ max: number; largest: Page; finding: Finding }> {
  const { param, small } = size
  let best: { max: number; largest: Page; finding: Finding } | null = null
  const place = 'paging.size_max'
  for (const wanted of param === null ? [] : SIZES) {
    if (best !== null && wanted <= best.max) break
    const page = await readPage(asker, list, { ...size.along, [param ?? '']: String(wanted) })
    // If the requested size is too large, some upstreams answer with an empty list.
    if (page === null || page.ids.length === 0) continue
    const count = page.ids.length
    const more = total === null ? hasMore(page) : count < total
    const isWhole = count !== small.ids.length && (more === null ? !isRound(count) : !more)
    const evidence = evidenceOf(page.reply, `${count} records`)
    if (count === wanted)
      return {
        max: wanted,
        largest: page,
        finding: { place, value: String(wanted), confidence: 'proved', evidence },
      }
    const smaller = SIZES.find((each) => each <= count)
    if (isWhole && smaller !== undefined && wanted !== smaller) {
      // The list has fewer records than the requested size. Only a size below the length of the list can be
      // proved.
      const exact = await readPage(asker, list, { ...size.along, [param ?? '']: String(smaller) })
      if (exact?.ids.length === smaller) {
        const proof = evidenceOf(exact.reply, `${smaller} records; ${wanted} gave the whole list of ${count}`)
        return {
          max: smaller,
          largest: page,
          finding: { place, value: String(smaller), confidence: 'proved', evidence: proof },
        }
      }
    }
    if (isWhole) {
      const finding: Finding = {
        place,
        value: String(wanted),
        confidence: 'likely',
        evidence: `${evidence}, the whole list`,
      }
      return { max: wanted, largest: page, finding }
    }
    if (best !== null && count <= best.max) {
      if (best.max >= 100) break
      continue
    }
    best = {
      max: count,
      largest: page,
      finding: { place, value: String(count), confidence: 'proved', evidence: `${evidence}: cut to that` },
    }
    // The upstream limited the page to its own maximum, which is above the sizes that are left to try.
    if (count >= 100) break
  }
  const max = small.ids.length
  return (
    best ?? {
      max,
      largest: small,
      finding: {
        place,
        value: String(max),
        confidence: 'likely',
        evidence: evidenceOf(small.reply, `${max} records`),
      },
    }
  )
}

/** Returns a page size that leaves records for a second page of a list with `count` records. */
function smallSize(count: number): number {
  if (count >= 7) return 3
  return count >= 4 ? 2 : 1
}

export function isRound(count: number): boolean {
  return count % 50 === 0 || ROUND_SIZES.some((size) => size === count)
}

/** Returns the names in another order: names that the answer has in its body or next link come first. */
function echoedFirst(params: readonly string[], { reply, envelope }: Page): string[] {
  const link = linkNext(reply.headers.link) ?? ''
  const names = [...leavesAround(reply.body, envelope)].map(({ path }) => path.at(-1) ?? '')
  const echoed = params.filter(
    (param) =>
      names.includes(param) || link.includes(`${param}=`) || link.includes(`${encodeURIComponent(param)}=`),
  )
  return [...new Set([...echoed, ...params])]
}

function asParams(values: ReadonlyMap<string, number>): Params {
  return Object.fromEntries([...values].map(([name, value]) => [name, String(value)]))
}
