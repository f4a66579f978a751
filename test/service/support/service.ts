/** The reference service on a free port, with a clock that a test moves. */
import { mkdtempSync, rmSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { type Dispatcher, request } from 'undici'
import { afterAll } from 'vitest'
import type { Problem } from '../../../src/contract/api.ts'
import type { WireLead, WireLeadList } from '../../../src/contract/lead.ts'
import type { ServiceOptions } from '../../../src/service/open.ts'
import { COMPANIES, openWithPast } from '../../support/service.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
/** A Thursday morning. */
export const NOW = Date.parse('2026-11-19T09:30:00.000Z')

export interface Answer {
  readonly status: number
  readonly headers: Dispatcher.ResponseData['headers']
  readonly text: string
  readonly json: unknown
}

export type TestService = Awaited<ReturnType<typeof startService>>

interface CallOptions {
  readonly method?: Dispatcher.HttpMethod
  /** The header Authorization; null sends none. */
  readonly authorization?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Starts a service that all tests of the file share. */
export async function serviceOfFile(options: Partial<ServiceOptions>): Promise<TestService> {
  const api = await startService(options)
  afterAll(() => api[Symbol.asyncDispose]())
  return api
}

export async function startService(options: Partial<ServiceOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'leadsheet-service-'))
  const file = options.file ?? join(folder, 'service.db')
  const clock = { at: NOW }
  const service = await openWithPast({
    file,
    companiesFile: COMPANIES,
    historyDays: 14,
    now: () => clock.at,
    resolve: knowsNoName,
    ...options,
  })
  const readKey = await service.createKey({ name: 'reader', scope: 'read' })
  const writeKey = await service.createKey({ name: 'writer', scope: 'write' })

  async function call(path: string, { method, authorization, headers, body }: CallOptions): Promise<Answer> {
    const answer = await request(new URL(service.url).origin + path, {
      method: method ?? 'GET',
      headers: {
        ...(authorization === null ? {} : { authorization: authorization ?? `Bearer ${readKey}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    })
    const text = await answer.body.text()
    const json: unknown = text === '' ? undefined : JSON.parse(text)
    return { status: answer.statusCode, headers: answer.headers, text, json }
  }

  const get = (path: string, given: CallOptions = {}) => call(`/api/v1${path}`, given)

  async function leads(query = ''): Promise<WireLeadList> {
    const answer = await get(`/leads?${query}`)
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
    return answer.json as WireLeadList
  }

  return {
    service,
    file,
    readKey,
    writeKey,
    /** Real time in ms; a test may set it. */
    clock,
    /** Sends a GET with the read key, unless the options say otherwise. */
    get,
    /** Returns the list's answer, which must have status 200. */
    leads,
    /** Moves the clock and lets the simulation follow. */
    pass: async (ms: number) => {
      clock.at += ms
      await service.catchUp()
    },
    /** Sends a POST of JSON with the write key. */
    post: (path: string, body: unknown, given: CallOptions = {}) =>
      call(`/api/v1${path}`, {
        method: 'POST',
        authorization: `Bearer ${writeKey}`,
        body: JSON.stringify(body),
        ...given,
        headers: { 'content-type': 'application/json', ...given.headers },
      }),
    /** Returns all leads of a list, page after page. */
    walk: async (query = '', betweenPages?: () => Promise<void>) => {
      const seen: WireLead[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        if (cursor !== '') await betweenPages?.()
        const { data, page } = await leads(cursor === '' ? query : `${query}&cursor=${cursor}`)
        seen.push(...data)
        cursor = page.next_cursor
      }
      return seen
    },
    /** Returns rows of the service's database, through a separate connection. */
    rows: <T>(sql: string) => {
      const sqlite = new SQLite(file, { readonly: true })
      const rows = sqlite.prepare<[], T>(sql).all()
      sqlite.close()
      return rows
    },
    [Symbol.asyncDispose]: async () => {
      await service.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Resolves no name, so that tests need no network. */
const knowsNoName: LookupFunction = (name, _options, callback) => {
  callback(Object.assign(new Error(`no host ${name}`), { code: 'ENOTFOUND' }), [])
}

export function problemIn(answer: Answer): Problem {
  return answer.json as Problem
}
