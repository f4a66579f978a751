/** Pages of leads as a plain script reads them: undici, the next page on its way while one is worked on. */
import { request } from 'undici'
import type { WireLead } from '../../../src/contract/lead.ts'

interface Body {
  readonly data: readonly WireLead[]
  readonly page: { readonly next_cursor: string | null }
}

/** @param base such as `http://127.0.0.1:1234/v1` */
export async function* pagesOf(base: string): AsyncGenerator<readonly WireLead[]> {
  let ahead: Promise<Body> | null = fetchPage(`${base}/api/v1/leads?limit=500`)
  while (ahead !== null) {
    const { data, page }: Body = await ahead
    ahead =
      page.next_cursor === null
        ? null
        : fetchPage(`${base}/api/v1/leads?limit=500&cursor=${page.next_cursor}`)
    yield data
  }
}

async function fetchPage(url: string): Promise<Body> {
  const { body } = await request(url)
  return JSON.parse(await body.text())
}
