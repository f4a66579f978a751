/** Pages of leads as a plain script reads them: undici, one page after another. */
import { request } from 'undici'
import type { WireLead } from '../../../src/contract/lead.ts'

interface Body {
  readonly data: readonly WireLead[]
  readonly page: { readonly next_cursor: string | null }
}

/**
 * @param base such as `http://127.0.0.1:1234/v1`
 * @param isAhead whether the next page is asked for while one is worked on
 */
export async function* pagesOf(
  base: string,
  { isAhead = true, size = 500 } = {},
): AsyncGenerator<readonly WireLead[]> {
  const fetchPage = async (cursor: string | null): Promise<Body> => {
    const from = cursor === null ? '' : `&cursor=${cursor}`
    const { body } = await request(`${base}/api/v1/leads?limit=${size}${from}`)
    return JSON.parse(await body.text())
  }
  let body = await fetchPage(null)
  for (;;) {
    const { next_cursor: next } = body.page
    const ahead = isAhead && next !== null ? fetchPage(next) : null
    yield body.data
    if (next === null) return
    body = await (ahead ?? fetchPage(next))
  }
}
