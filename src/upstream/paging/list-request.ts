/**
 * Composes the request for a page of the lead list: a GET with its parameters in the query, or a POST with them
 * in a JSON body. In a body, the name of a parameter is a place, such as `filterGroups[0].filters[0].value`.
 */
import type { Call } from '../client/request.ts'
import type { PagingProfile, Profile } from '../profile/profile.ts'
import { readPath, splitPath } from '../values/json.ts'
import { filterParameters, JSON_CURSOR, type LeadFilters, requestPage } from './paging.ts'

type ListProfile = Pick<Profile, 'request' | 'paging' | 'sort' | 'filters'>
type ListRequest = Pick<Call, 'method' | 'url' | 'body' | 'isLink' | 'isRead'> & {
  readonly headers: Readonly<Record<string, string>>
}

/**
 * @param list the URL of the list; its own query stays there in a POST too
 * @throws LeadsheetError usage_invalid for a filter that the upstream does not have
 */
export function composeListRequest(
  profile: ListProfile,
  list: URL,
  filters: LeadFilters,
  position: string | null,
  size: number,
): ListRequest {
  const { request, paging } = profile
  const parameters = filterParameters(profile, filters)
  const headers: Record<string, string> = {}
  for (const { name, values, in: where } of parameters)
    if (where === 'header') headers[name.toLowerCase()] = String(values[0])
  const placed = parameters.filter((each) => each.in !== 'header')
  const isLink = position !== null && (paging.kind === 'next_url' || paging.kind === 'link')
  const url = new URL(list)
  if (request === undefined) {
    for (const { name, values, isRepeatable } of placed) {
      if (!isRepeatable) url.searchParams.set(name, textOf(values[0]))
      else for (const value of values) url.searchParams.append(name, textOf(value))
    }
    return { method: 'GET', url: requestPage(paging, url, headers, position, size), isLink, headers }
  }
  const body = structuredClone(request.body)
  for (const { name, values } of placed) putAt(body, name, values.length === 1 ? values[0] : values)
  if (!isLink) url.search = ''
  const paged = requestPage(paging, url, headers, position, size)
  if (!isLink) {
    for (const [name, value] of paged.searchParams) putAt(body, name, valueAt(paging, body, name, value))
    paged.search = list.search
  }
  return { method: 'POST', isRead: true, url: paged, isLink, headers, body }
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Sizes, page numbers and offsets are numbers in JSON, unless the template of the body has a text in their place. */
function valueAt(paging: PagingProfile, body: unknown, name: string, value: string): unknown {
  if (value.startsWith(JSON_CURSOR)) return JSON.parse(value.slice(JSON_CURSOR.length))
  const before = readPath(body, placePath(name))
  if (typeof before === 'string') return value
  const isCounted = paging.kind === 'page' || paging.kind === 'offset'
  const isNumber =
    ('size_param' in paging && paging.size_param === name) ||
    (isCounted && paging.param === name) ||
    typeof before === 'number'
  return isNumber && Number.isFinite(Number(value)) ? Number(value) : value
}

/** Writes a value into a body, with the objects and lists on the way to its place. */
export function putAt(body: object, place: string, value: unknown): void {
  const path = placePath(place)
  let at = body
  for (const [index, name] of path.entries()) {
    if (index === path.length - 1) {
      Reflect.set(at, name, value)
      return
    }
    const inner: unknown = Reflect.get(at, name)
    const entered =
      typeof inner === 'object' && inner !== null ? inner : /^\d+$/.test(path[index + 1] ?? '') ? [] : {}
    Reflect.set(at, name, entered)
    at = entered
  }
}

/** `sorts[0].field` is written `sorts.0.field` too, as in the paths of answers. */
function placePath(place: string): readonly string[] {
  return splitPath(place.replace(/\[(\d+)\]/g, '.$1'))
}
