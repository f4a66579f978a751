/** The API of a real server as a test uses it: to see what is there, and to change it. */
import type { UpstreamRecord } from './real-server.ts'

/** @throws Error for an answer that is none of 2xx, or no list */
export async function readList(
  url: string,
  headers: Record<string, string> = {},
): Promise<readonly UpstreamRecord[]> {
  const response = await fetch(url, { headers })
  const body: unknown = await response.json()
  if (!response.ok || !Array.isArray(body)) throw new Error(`GET ${url} -> ${response.status}, no list`)
  return body as UpstreamRecord[]
}

/** @throws Error for an answer that is none of 2xx */
export async function send(
  method: 'POST' | 'PUT' | 'DELETE',
  url: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<void> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url} -> ${response.status}: ${text.slice(0, 200)}`)
}
