/**
 * Pages of leads as a plain script reads them: undici, one page after another. The next page may be requested
 * while one is worked on.
 */
import { request } from 'undici'
import type { WireLead } from '../../../src/contract/lead.ts'

interface Body {
  readonly data: readonly WireLead[]
  readonly page: { readonly next_cursor: string | null }
}

interface PageOptions {
  /** Tells whether the next page is requested while one is worked on. */
  readonly isAhead: boolean
}

/** @param base such as `http://127.0.0.1:1234/v1` */
export async function* pagesOf(base: string, options?: PageOptions): AsyncGenerator<readonly WireLead[]> {
  const fetchPage = async (cursor: string | null) => {
    const { body } = await request(pageUrl(base, cursor))
    const { data, page }: Body = JSON.parse(await body.text())
    return { content: data, next: page.next_cursor }
  }
  yield* pagesBy(fetchPage, options)
}

/** Returns the bytes of each page without parsing them. */
export async function* bytesOf(base: string): AsyncGenerator<Buffer> {
  yield* pagesBy(async (cursor) => {
    const { body } = await request(pageUrl(base, cursor))
    const content = Buffer.from(await body.arrayBuffer())
    const [, next = null] =
      /"next_cursor":"(\d+)"/.exec(content.toString('latin1', content.length - 100)) ?? []
    return { content, next }
  })
}

function pageUrl(base: string, cursor: string | null): string {
  return `${base}/api/v1/leads?limit=500${cursor === null ? '' : `&cursor=${cursor}`}`
}

async function* pagesBy<T>(
  fetchPage: (cursor: string | null) => Promise<{ content: T; next: string | null }>,
  { isAhead }: PageOptions = { isAhead: true },
): AsyncGenerator<T> {
  let page = await fetchPage(null)
  for (;;) {
    const { content, next } = page
    const ahead = isAhead && next !== null ? fetchPage(next) : null
    yield content
    if (next === null) return
    page = await (ahead ?? fetchPage(next))
  }
}

/** Fetches all pages and keeps none. */
export async function countPages(pages: AsyncIterable<unknown>): Promise<number> {
  let count = 0
  for await (const _ of pages) count++
  return count
}
