/** A real server for a test, whose records are read and changed through its own API. */
import { join } from 'node:path'
import { openStore } from '../../src/store/open.ts'
import { readPath, splitPath } from '../../src/upstream/values/json.ts'
import { isSkipped } from '../support/process/programs.ts'
import { type ServerProcess, untilTrue } from './server-process.ts'

export type UpstreamRecord = Readonly<Record<string, unknown>>

export type Change = 'add' | 'change' | 'remove'
type Request = readonly [method: string, path: string, body?: unknown]
type Records = ReadonlyMap<string, UpstreamRecord>

export const METHODS = { add: 'POST', change: 'PATCH', remove: 'DELETE' } as const satisfies Record<
  Change,
  string
>

export interface RealServer {
  /** The address of its list. */
  readonly url: string
  /** The key, if it needs one. */
  readonly key?: string | undefined
  /** Returns the whole list by id, read without the client under test. */
  list(): Promise<Records>
  /** Adds, changes or removes the records with these numbers. `edits` is 0 for the first form of a record. */
  write(change: Change, numbers: readonly number[], edits: 0 | 1): Promise<void>
}

export interface RealServerKind {
  readonly name: string
  /** Returns the command that installs it; null if it is installed. */
  readonly missing: () => string | null
  /** Starts it for the current test, on a free port of 127.0.0.1, with its data in a temporary folder. */
  readonly start: (records: number) => Promise<RealServer>
}

/** Returns the numbers of some records. */
export const range = (from: number, count: number): number[] =>
  [...Array(count).keys()].map((index) => from + index)

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

export interface Api extends Pick<RealServer, 'url' | 'key'> {
  readonly headers?: Readonly<Record<string, string>>
  /** The field that tells records apart. */
  readonly id: 'id' | 'name' | '_id'
  /** The path of the records in an answer, if it is not the list itself. */
  readonly records?: string
  /** The request for the records behind the first ones, or for all. */
  read(from: number): Request
  /** The request that writes the record with a number. */
  write(change: Change, index: number, edits: 0 | 1, stored: Records): Request
}

/** Waits until a server lists the records that it began with. */
export async function serverWith(
  count: number,
  process: ServerProcess,
  { url, key, headers, id, records = '', read, write }: Api,
): Promise<RealServer> {
  /** @throws Error if the answer is an error */
  const ask = async ([method, path, body]: Request): Promise<unknown> => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: method === 'GET' || method === 'DELETE' ? null : JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok || text.startsWith('{"errors"'))
      throw new Error(`${method} ${path} -> ${response.status}: ${text.slice(0, 200)}`)
    return text === '' ? null : JSON.parse(text)
  }
  const list = async (): Promise<Records> => {
    const found = new Map<string, UpstreamRecord>()
    for (let from = -1; from < found.size; ) {
      from = found.size
      const page = readPath(await ask(read(from)), splitPath(records)) as UpstreamRecord[]
      for (const record of page) found.set(String(record[id]), record)
    }
    return found
  }
  await untilTrue(process, async () => (await list()).size === count)
  return {
    url,
    key,
    list,
    async write(change, numbers, edits) {
      const stored = await list()
      for (const index of numbers) await ask(write(change, index, edits, stored))
    },
  }
}

const STAGES = ['new', 'contacted', 'won', 'lost']
const NOTES = ['Zoë O’Neil', '', '株式会社レモン 🍋', null, ' two\n"lines" <b> ', '12.500', 'x'.repeat(5_000)]

/** A lead with all kinds of scalars. */
export function lead(index: number, edits: number): UpstreamRecord {
  return {
    id: `l-${index}`,
    firstName: `Ada${index}`,
    lastName: edits === 0 ? 'Lovelace' : 'King',
    email: `ada${index}@firma${index}.example`,
    stage: STAGES[(index + edits) % STAGES.length],
    score: (index + edits) % 101,
    amount: index % 7 === 3 ? null : index * 12.25 + edits,
    ratio: (index - 100) / 64,
    views: 5_000_000_000 + index + edits,
    hot: index % 3 === edits,
    closes: afterHours(24 * (index + edits)).slice(0, 10),
    callAt: `0${(index + edits) % 10}:30:00`,
    calledAt: index % 5 === edits ? null : afterHours(index * 7 + edits),
    createdAt: afterHours(index),
    // The times are scattered, and those of what is added or changed are the latest.
    updatedAt: afterHours(3_000 + ((index * 7919) % 500) + edits * 1_000),
    note: NOTES[(index + edits) % NOTES.length],
    company: { id: index, name: `Firma ${index} GmbH`, city: index % 4 === edits ? null : 'Köln' },
  }
}
