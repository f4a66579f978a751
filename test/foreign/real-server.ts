/** A real server for a test, whose records are read and changed through its own API. */
import { join } from 'node:path'
import { openStore } from '../../src/store/open.ts'
import { isSkipped } from '../support/process/programs.ts'
import { type ServerProcess, untilTrue } from './server-process.ts'

export type UpstreamRecord = Readonly<Record<string, unknown>>

export interface RealServer {
  /** The address of its list. */
  readonly url: string
  /** The key; empty if it needs none. */
  readonly key: string
  /** Returns the whole list by id, read without the client under test. */
  list(): Promise<ReadonlyMap<string, UpstreamRecord>>
  /** Adds records. */
  add(count: number): Promise<void>
  remove(ids: readonly string[]): Promise<void>
}

export interface RealServerKind {
  readonly name: string
  /** Returns the command that installs it; null if it is installed. */
  readonly missing: () => string | null
  /** Starts it for the current test, on a free port of 127.0.0.1, with its data in a temporary folder. */
  readonly start: (records: number) => Promise<RealServer>
}

/** For `test.skipIf`. */
export function isMissing({ name, missing }: RealServerKind): boolean {
  return isSkipped(`a sync from ${name}`, missing())
}

/** Returns a time that is so many hours after the beginning of 2026. */
export function afterHours(count: number): string {
  return new Date(Date.UTC(2026, 0, 1) + count * 3_600_000).toISOString()
}

/** Returns the stored raw records of an installation by id, without deleted ones. */
export async function storedIn(cwd: string): Promise<ReadonlyMap<string, unknown>> {
  await using store = await openStore(join(cwd, 'data', 'leadsheet.db'), new Date())
  const rows = await store.db
    .selectFrom('lead')
    .innerJoin('lead_raw', 'lead_raw.lead_no', 'lead.no')
    .select(['id', 'raw'])
    .where('deleted_at', 'is', null)
    .execute()
  return new Map(rows.map(({ id, raw }) => [id, JSON.parse(raw)]))
}

interface Api extends Pick<RealServer, 'url' | 'key'> {
  readonly headers: Readonly<Record<string, string>>
  /** The field that tells records apart. */
  readonly id: 'id' | 'name'
  /** The path of a record below the list, before its id. */
  readonly folder: '/' | '/%2F/'
  /** The request that adds the record with a number. */
  addition(index: number): readonly [method: 'POST' | 'PUT', path: string, body: UpstreamRecord]
}

/** Waits until a server lists the records that it began with. */
export async function serverWith(
  records: number,
  process: ServerProcess,
  { url, key, headers, id, folder, addition }: Api,
): Promise<RealServer> {
  /** @throws Error if the answer has another status than 2xx */
  const ask = async (method: string, path: string, body?: UpstreamRecord): Promise<string> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${url}${path} -> ${response.status}: ${text.slice(0, 200)}`)
    return text
  }
  const list: RealServer['list'] = async () =>
    new Map(JSON.parse(await ask('GET', '')).map((record: UpstreamRecord) => [String(record[id]), record]))
  let next = records
  await untilTrue(process, async () => (await list()).size === records)
  return {
    url,
    key,
    list,
    async add(count) {
      for (const end = next + count; next < end; next++) await ask(...addition(next))
    },
    async remove(ids) {
      for (const each of ids) await ask('DELETE', `${folder}${each}`)
    },
  }
}
