/**
 * Reads the list with the paging that was found, and with the same functions as a sync. If the list is short,
 * the walk reaches its end, which proves the paging. The records of all these pages are then used to
 * recognise the fields.
 */
import { composeListRequest } from '../upstream/paging/list-request.ts'
import { nextPosition, type PageAnswer } from '../upstream/paging/paging.ts'
import { type PagingProfile, pagingSchema } from '../upstream/profile/profile.ts'
import type { Asker, Reply } from './ask.ts'
import { type List, type Page, type Params, pageOf, questionFor } from './ask.ts'
import type { PagingInput } from './paging-probe.ts'

const PAGES_MAX = 5
/** A position past the end of any list, for lists whose total is unknown. */
const FAR_RECORDS = 10_000_000

export interface Walk {
  readonly pages: readonly Page[]
  readonly seen: number
  /**
   * `refused` or `repeated`: past the last page, the upstream answered with an error or with known records. `failed`:
   * it did so elsewhere, or with an error that shows no end. `cut`: at a number at which many searches are cut off. `uncounted`: more records
   * came than the total counts.
   */
  readonly ended: 'end' | 'refused' | 'repeated' | 'failed' | 'cut' | 'uncounted' | 'not reached'
  /** The answer that failed. */
  readonly failure?: Reply
}

/** The statuses by which an upstream refuses a page past the last one. */
const PAST_END = new Set([400, 404, 410, 416, 422])

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
  const readAt: ReadAt = async (at) => {
    const { method, url, body } = questionFor(list, params)
    const request = method === 'POST' ? { method, body: Object(body) } : undefined
    const profile = { request, paging, filters: {}, sort: {} }
    const reply = await asker.ask(composeListRequest(profile, url, {}, at, paging.size_max))
    return { page: pageOf(reply, list), reply }
  }
  for (let count = 0; count < PAGES_MAX; count++) {
    const { page, reply } = await readAt(position)
    const isRepeated = page !== null && page.ids.length > 0 && page.ids.every((id) => ids.has(id))
    if (page === null || isRepeated)
      return { pages, seen: ids.size, ...endBy(reply, isRepeated, total === null || ids.size >= total) }
    pages.push(page)
    for (const id of page.ids) ids.add(id)
    position = nextPosition(paging, position, answerOf(page))
    if (position === null) return { pages, seen: ids.size, ended: 'end' }
  }
  if (total !== null && total < ids.size) return { pages, seen: ids.size, ended: 'uncounted' }
  return { pages, seen: ids.size, ...(await lookBehind(readAt, paging, total)) }
}

/** @param mayEnd whether the list may end here by its total */
function endBy(failure: Reply, isRepeated: boolean, mayEnd = true): Pick<Walk, 'ended' | 'failure'> {
  const { status, body } = failure
  const isPast = isRepeated || PAST_END.has(status) || (status < 300 && typeof body !== 'string')
  if (!mayEnd || !isPast) return { ended: 'failed', failure }
  return { ended: isRepeated ? 'repeated' : 'refused' }
}

/**
 * For a list that is too long to be read to its end. Possible only if positions are numbers. What stands behind the
 * total must be of the page before it; new records show that the total is wrong.
 */
async function lookBehind(
  readAt: ReadAt,
  paging: PagingProfile,
  total: number | null,
): Promise<Pick<Walk, 'ended' | 'failure'>> {
  const isCounted = paging.kind === 'page' || paging.kind === 'offset'
  if (!isCounted || paging.has_more !== undefined || ('pages' in paging && paging.pages !== undefined)) {
    return { ended: 'not reached' }
  }
  const step = paging.kind === 'page' ? 1 : paging.size_max
  const records = total ?? FAR_RECORDS
  const places = paging.kind === 'page' ? Math.ceil(records / paging.size_max) : records
  const at = (place: number) => readAt(String(paging.start + place))
  const { page, reply } = await at(places)
  if (page === null) return endBy(reply, false)
  if (page.records.length === 0 || total === null) return { ended: 'not reached' }
  const before = (await at(Math.max(0, places - step))).page
  const isNew = before === null || page.ids.some((id) => !before.ids.includes(id))
  return isNew ? { ended: 'uncounted' } : endBy(reply, true)
}

type ReadAt = (position: string | null) => Promise<{ page: Page | null; reply: Reply }>

function answerOf({ reply, records }: Page): PageAnswer {
  return {
    url: reply.url,
    body: reply.body,
    headers: reply.headers,
    records: records.map((value) => ({ value })),
  }
}
