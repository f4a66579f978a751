/**
 * Reads the list with the paging that was found, and with the same functions as a sync. If the list is short,
 * the walk reaches its end, which proves the paging. The records of all these pages are then used to
 * recognise the fields.
 */
import { composeListRequest } from '../upstream/paging/list-request.ts'
import { nextPosition, type PageAnswer } from '../upstream/paging/paging.ts'
import { type PagingProfile, pagingSchema } from '../upstream/profile/profile.ts'
import type { Asker } from './ask.ts'
import { type List, type Page, type Params, pageOf, questionFor } from './ask.ts'
import type { PagingInput } from './paging-probe.ts'

const PAGES_MAX = 5
/** A position past the end of any list, for lists whose total is unknown. */
const FAR_RECORDS = 10_000_000

export interface Walk {
  readonly pages: readonly Page[]
  readonly seen: number
  /**
   * `refused` or `repeated`: past the last page, the upstream answered with an error or with known records.
   */
  readonly ended: 'end' | 'refused' | 'repeated' | 'not reached'
}

/**
 * Reads the list page by page, up to PAGES_MAX pages.
 * @param params the parameters of every request
 * @param total the number of all records; null if unknown
 */
export async function walkList(
  asker: Asker,
  list: List,
  input: PagingInput,
  params: Params,
  total: number | null,
): Promise<Walk> {
  const paging: PagingProfile = pagingSchema.parse(input)
  const pages: Page[] = []
  const ids = new Set<string>()
  let position: string | null = null
  for (let count = 0; count < PAGES_MAX; count++) {
    const page = await readAt(asker, list, paging, params, position)
    if (page === null) return { pages, seen: ids.size, ended: 'refused' }
    const isRepeated = page.ids.length > 0 && page.ids.every((id) => ids.has(id))
    if (isRepeated) return { pages, seen: ids.size, ended: 'repeated' }
    pages.push(page)
    for (const id of page.ids) ids.add(id)
    position = nextPosition(paging, position, answerOf(page))
    if (position === null) return { pages, seen: ids.size, ended: 'end' }
  }
  return { pages, seen: ids.size, ended: await lookBehind(asker, list, paging, params, total) }
}

/** For a list that is too long to be read to its end. Possible only if positions are numbers. */
async function lookBehind(
  asker: Asker,
  list: List,
  paging: PagingProfile,
  params: Params,
  total: number | null,
): Promise<'not reached' | 'refused' | 'repeated'> {
  const isCounted = paging.kind === 'page' || paging.kind === 'offset'
  if (!isCounted || paging.has_more !== undefined || ('pages' in paging && paging.pages !== undefined)) {
    return 'not reached'
  }
  const records = total ?? FAR_RECORDS
  const places = paging.kind === 'page' ? Math.ceil(records / paging.size_max) : records
  const page = await readAt(asker, list, paging, params, String(paging.start + places))
  if (page === null) return 'refused'
  return page.records.length > 0 && total !== null ? 'repeated' : 'not reached'
}

async function readAt(
  asker: Asker,
  list: List,
  paging: PagingProfile,
  params: Params,
  position: string | null,
): Promise<Page | null> {
  const { method, url, body } = questionFor(list, params)
  const request = method === 'POST' ? { method, body: Object(body) } : undefined
  const profile = { request, paging, filters: {}, sort: {} }
  return pageOf(await asker.ask(composeListRequest(profile, url, {}, position, paging.size_max)), list)
}

function answerOf({ reply, records }: Page): PageAnswer {
  return {
    url: reply.url,
    body: reply.body,
    headers: reply.headers,
    records: records.map((value) => ({ value })),
  }
}
