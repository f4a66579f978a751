/** Reads links, cursors and counts that may lead to further pages. The caller trusts only those that work. */

import { linkNext } from '../upstream/paging/paging.ts'
import { MORE_NAMES, saysMoreFollow } from '../upstream/paging/partial-answer.ts'
import type { Place } from '../upstream/profile/profile.ts'
import { type FieldPath, type Leaf, leavesAround, pathText, readPath } from '../upstream/values/json.ts'
import { toNumber } from '../upstream/values/scalar.ts'
import type { Page } from './ask.ts'
import { PAGES_HEADERS, TOTAL_HEADERS } from './candidates.ts'

const URL_LIKE = /^(https?:)?\/\/?\S|^\?\S|^[\w./-]+\?[^\s=]+=/
const BACKWARD = /prev|previous|before|first|last|self|current|start_?cursor|has_?more/i
const TOKEN_HEADER = /next|cursor|continuation|bookmark|marker|scroll/i
const TOKEN_NAME = /next|cursor|after|contin|token|bookmark|marker|scroll|offset/i

export interface Token extends Leaf {
  readonly token: string
}

export interface Cursor {
  readonly place: Place
  readonly token: string
}

export function nextUrls(page: Page): Token[] {
  return leaves(page).flatMap(({ path, value }) =>
    typeof value === 'string' &&
    URL_LIKE.test(value) &&
    /next/i.test(pathText(path)) &&
    !BACKWARD.test(lastOf(path))
      ? [{ path, value, token: value }]
      : [],
  )
}

/** Returns the values in body and headers that may be the cursor of the next page, the likeliest first. */
export function nextCursors(page: Page): Cursor[] {
  const inBody = leaves(page).flatMap(({ path, value }): Cursor[] => {
    const text = pathText(path)
    if (!TOKEN_NAME.test(text) || BACKWARD.test(lastOf(path))) return []
    if (typeof value === 'number')
      return /next/i.test(text) ? [{ place: { path }, token: String(value) }] : []
    return typeof value === 'string' && value !== '' && !URL_LIKE.test(value)
      ? [{ place: { path }, token: value }]
      : []
  })
  const inHeaders = Object.entries(page.reply.headers).flatMap(([header, value]): Cursor[] =>
    TOKEN_HEADER.test(header) &&
    !BACKWARD.test(header) &&
    typeof value === 'string' &&
    value !== '' &&
    !URL_LIKE.test(value)
      ? [{ place: { header: properName(header) }, token: value }]
      : [],
  )
  const isNext = ({ place }: Cursor) => Number(/next/i.test(placeText(place)))
  return [...inBody, ...inHeaders].sort((one, other) => isNext(other) - isNext(one))
}

/** Formats the place of a value for people: `page.next_cursor`, or `X-Next-Cursor header`. */
export function placeText(place: Place): string {
  return 'path' in place ? pathText(place.path) : `${place.header} header`
}

/** Formats the place of a value as in a profile: a path, or `{ header: NAME }`. */
export function placeInput(place: Place): string | { header: string } {
  return 'path' in place ? pathText(place.path) : place
}

/** Returns the names of the query parameters that carry the token in the links to the next page. */
export function paramsWith(page: Page, token: string): string[] {
  const links = [linkNext(page.reply.headers.link), ...nextUrls(page).map(({ token: url }) => url)]
  return links.flatMap((link) => {
    const url = link === null ? null : URL.parse(link, page.reply.url.href)
    return url === null
      ? []
      : [...url.searchParams].filter(([, value]) => value === token).map(([name]) => name)
  })
}

/** Returns the path of a flag such as `has_more: true`, if the body has it; otherwise null. */
export function hasMorePath(page: Page): FieldPath | null {
  const isFlag = (name: string) => MORE_NAMES.test(name) || /^_?next(_?page)?$/i.test(name)
  return leaves(page).find(({ path, value }) => value === true && isFlag(lastOf(path)))?.path ?? null
}

/** Returns the path of a flag or of an empty next page that says that no page follows; null if there is none. */
export function endPath(page: Page): FieldPath | null {
  const isEnd = ({ path, value }: Leaf) =>
    saysMoreFollow(lastOf(path), value) === false || (/next/i.test(lastOf(path)) && !value)
  return leaves(page).find(isEnd)?.path ?? null
}

export interface FoundTotal {
  readonly place: Place
  readonly total: number
}

const TOTAL_NAME = /total|found|match|content-range/i

/**
 * Finds the total number of records. It must be the same in answers with different page sizes. A number of as many as
 * the only page has is one by its name alone: most often it counts that page.
 */
export function findTotal(pages: readonly Page[]): FoundTotal | null {
  const [first] = pages
  if (first === undefined) return null
  const seen = new Set(pages.flatMap(({ ids }) => ids)).size
  const isOfPage = (name: string, total: number) =>
    !TOTAL_NAME.test(name) && pages.every(({ ids }) => ids.length === total)
  const header = TOTAL_HEADERS.find((name) => {
    const [total, ...others] = pages.map((page) => headerNumber(page, name))
    return total != null && !isOfPage(name, total) && others.every((each) => each === total)
  })
  const inHeader = header === undefined ? null : headerNumber(first, header)
  if (header !== undefined && inHeader !== null && inHeader >= seen) {
    return { place: { header: properName(header) }, total: inHeader }
  }
  const found = leaves(first)
    .filter(({ path }) => /total|count|found|match|size|^hits$|^items$|records/i.test(lastOf(path)))
    .filter(({ path }) => !/pages?$|page_?count|per_?page|page_?size|limit/i.test(lastOf(path)))
    .flatMap(({ path, value }) => {
      const total = typeof value === 'number' || typeof value === 'string' ? toNumber(value) : null
      const isTotal = total !== null && total >= seen && Number.isInteger(total)
      return isTotal && !isOfPage(lastOf(path), total) ? [{ path, total }] : []
    })
    .filter(({ path, total }) => pages.every((page) => toNumber(readPath(page.reply.body, path)) === total))
    .sort((a, b) => Number(/total/i.test(lastOf(b.path))) - Number(/total/i.test(lastOf(a.path))))[0]
  return found === undefined ? null : { place: { path: found.path }, total: found.total }
}

/** Finds the place of the number of pages. Its value must equal `total / size`, rounded up, on every page. */
export function findPages(pages: readonly [Page, Page], total: number | null): Place | null {
  if (total === null) return null
  const isRight = (read: (page: Page) => number | null): boolean =>
    pages.every((page) => read(page) === Math.ceil(total / page.ids.length))
  const header = PAGES_HEADERS.find((name) => isRight((page) => headerNumber(page, name)))
  if (header !== undefined) return { header: properName(header) }
  const leaf = leaves(pages[0]).find(
    ({ path }) =>
      /page|^last$/i.test(pathText(path)) && isRight((page) => toNumber(readPath(page.reply.body, path))),
  )
  return leaf === undefined ? null : { path: leaf.path }
}

function leaves(page: Page): Leaf[] {
  return [...leavesAround(page.reply.body, page.envelope)]
}

function lastOf(path: FieldPath): string {
  return path.at(-1) ?? ''
}

function headerNumber({ reply }: Page, name: string): number | null {
  return toNumber(String(reply.headers[name] ?? '').replace(/^.*\//, ''))
}

/** Turns `x-total-count` into `X-Total-Count`. */
function properName(header: string): string {
  return header.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase())
}
