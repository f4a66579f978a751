/** The API of a real server, as a test uses it to read and change its records. */
import type { UpstreamRecord } from './real-server.ts'

/** @throws Error if the answer has another status than 2xx, or is no list */
export async function readList(
  url: string,
  headers: Record<string, string> = {},
): Promise<readonly UpstreamRecord[]> {
  const response = await fetch(url, { headers })
  const body: unknown = await response.json()
  if (!response.ok || !Array.isArray(body)) throw new Error(`GET ${url} -> ${response.status}, no list`)
  return body as UpstreamRecord[]
}

/** @throws Error if the answer has another status than 2xx */
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
