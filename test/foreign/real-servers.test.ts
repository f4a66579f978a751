/**
 * A user's whole way with a real server: probe it, take the columns that are proposed, sync while records come, change
 * and go, and look at the copy. If a server is not installed, its test is skipped with a message.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { folderWith } from '../support/folder.ts'
import { runLeadsheet } from '../support/leadsheet.ts'
import { JSON_SERVER } from './json-server.ts'
import { COUCHDB, GRAPHQL, JSON_API, ODATA } from './list-servers.ts'
import { POWERDNS } from './powerdns.ts'
import { RABBITMQ } from './rabbitmq.ts'
import {
  isMissing,
  type RealServer,
  type RealServerKind,
  range,
  storedIn,
  type UpstreamRecord,
} from './real-server.ts'

interface Row {
  readonly kind: RealServerKind
  readonly records: number
  /** How many records are changed. */
  readonly changes?: number
  /** The findings of the probe, its gaps, and the most requests that it sends. */
  readonly finds: Readonly<Record<string, string>>
  readonly lacks?: readonly string[]
  readonly requests?: number
  /** Text that the user adds to the profile of the probe, or a whole profile where the probe found nothing. */
  readonly adds?: string
  readonly writes?: string
}

const SERVERS: readonly Row[] = [
  { kind: JSON_SERVER, records: 2_317, finds: { 'paging.kind': 'page by _page from 1', auth: 'none' } },
  {
    kind: POWERDNS,
    records: 2_143,
    finds: { 'paging.kind': 'none', auth: 'X-API-Key: {key}' },
    lacks: ['mapping.lead.status'],
  },
  {
    kind: RABBITMQ,
    records: 2_087,
    changes: 0,
    finds: { 'paging.kind': 'page by page from 1', auth: 'Authorization: Basic {basic}' },
    lacks: ['mapping.lead.status', 'mapping.lead.company_name'],
  },
  {
    kind: ODATA,
    records: 237,
    finds: {
      'paging.kind': 'offset by $skip from 0',
      'filters.updated_since': '?$filter=updatedAt ge {iso}',
    },
  },
  {
    kind: JSON_API,
    records: 237,
    finds: { 'paging.kind': 'next_url at links.next', 'mapping.lead.updated_at': 'attributes.updated-at' },
    requests: 48,
    adds: "filters: { updated_since: { param: 'filter[updated-at][min]' } }",
  },
  {
    kind: COUCHDB,
    records: 237,
    finds: { request: 'POST', 'filters.updated_since': 'selector: {"updatedAt":{"$gte":"{iso}"}}' },
  },
  { kind: GRAPHQL, records: 237, finds: {}, lacks: ['endpoints.leads'], writes: 'postgraphile.yaml' },
]
/** The limit is long, because the machine may be busy. */
const TEST_MS = 150_000

interface Probed {
  readonly complete: boolean
  readonly requests: number
  readonly findings: readonly { place: string; value: string; confidence: string; evidence: string }[]
  readonly gaps: readonly { place: string; problem: string; remedy: string | null }[]
}

describe.each(SERVERS)('$kind.name', ({ kind, records, changes = 20, lacks = [], ...row }) => {
  test.skipIf(isMissing(kind))(
    'is probed, and a sync by what was written stores its records and all their scalars, as they come, change and go',
    async () => {
      const server = await kind.start(records)
      const user = userOf(server)

      const probed = await user.probe(row.writes === undefined ? [0, 3] : [1])
      const found = probed.findings.map(({ place, value }) => [place, value])
      expect(Object.fromEntries(found)).toMatchObject(row.finds)
      expect(probed.gaps.filter(({ remedy }) => remedy !== null).map(({ place }) => place)).toEqual(lacks)
      expect(probed.complete).toBe(lacks.length === 0)
      expect(probed.requests).toBeLessThanOrEqual(row.requests ?? 45)
      user.writeProfile(row)

      expect(await user.sync()).toMatchObject({ outcome: 'ok', leads: { inserted: records, quarantined: 0 } })
      await user.expectCopy(await server.list())
      expect(await user.sync('--full')).toMatchObject({
        leads: { inserted: 0, updated: 0, unchanged: records, deleted: 0 },
      })

      await server.write('change', range(10, changes), 1)
      await server.write('add', range(records, 5), 1)
      await server.write('remove', range(40, 7), 0)
      expect(await user.sync()).toMatchObject({ leads: { inserted: 5, updated: changes, deleted: 0 } })
      const scans = [await user.sync('--full'), await user.sync('--full')]
      expect(scans.map(({ leads }) => leads.deleted).sort()).toEqual([0, 7])
      await user.expectCopy(await server.list())
    },
    TEST_MS,
  )
})

/** Runs the commands of a user in a new folder. */
function userOf(server: RealServer) {
  const cwd = folderWith()
  const file = join(cwd, 'profile.yaml')
  const env: Record<string, string> = { LEADSHEET_API_URL: server.url, LEADSHEET_DATA_DIR: 'data' }
  if (server.key !== undefined) env['LEADSHEET_API_KEY'] = server.key
  const run = async (statuses: readonly number[], ...args: string[]) => {
    const { status, stdout, stderr } = await runLeadsheet([...args, '--json'], { cwd, env })
    expect(statuses, stdout + stderr).toContain(status)
    return JSON.parse(stdout).data
  }
  return {
    probe: (statuses: readonly number[]): Promise<Probed> => run(statuses, 'probe', server.url, '-o', file),
    /** Takes all columns that the probe proposes. */
    writeProfile({ adds = '', writes }: Pick<Row, 'adds' | 'writes'>): void {
      const probed = readFileSync(writes === undefined ? file : join(import.meta.dirname, writes), 'utf8')
      writeFileSync(file, probed.replaceAll(/^#(fields:| {2}\w+: \{ from: )/gm, '$1') + adds)
      env['LEADSHEET_API_PROFILE'] = file
    },
    sync: async (...args: string[]) => run([0], 'sync', ...args),
    /** Expects the records of the server, without deleted ones, and each scalar in a column of `lead_now`. */
    async expectCopy(list: ReadonlyMap<string, UpstreamRecord>): Promise<void> {
      expect(await storedIn(cwd)).toEqual(list)

      const rows: UpstreamRecord[] = await run([0], 'query', 'SELECT * FROM lead_now', '--limit', '10000')
      const leads = new Map(rows.map((row) => [String(row['id']), row]))
      expect([...leads.keys()].sort()).toEqual([...list.keys()].sort())
      const { mapping, fields } = parse(readFileSync(file, 'utf8'))
      const columns = Object.entries({ ...mapping.lead, ...fields }).map(([column, rule]) => ({
        column,
        paths: typeof rule === 'string' ? [rule] : [Object(rule).from ?? Object(rule).all].flat(),
      }))
      const wrong = [...list].flatMap(([id, record]) =>
        scalarsIn(record).flatMap(([path, value]) => {
          const read = columns.filter(({ paths }) => paths.includes(path))
          const found = read.map(({ column }) => leads.get(id)?.[column])
          return isIn(found, value) ? [] : [{ id, path, value, found }]
        }),
      )
      expect(wrong.slice(0, 10)).toEqual([])
    },
  }
}

/** Lists the scalars of a record by their paths in a profile. */
function scalarsIn(value: unknown, path = ''): [path: string, value: unknown][] {
  if (typeof value !== 'object' || value === null) return [[path.slice(1), value]]
  return Object.entries(value).flatMap(([name, inner]) => scalarsIn(inner, `${path}.${name}`))
}

/** In the copy an empty text is null, true is 1, a number may be sent as text, times are in UTC, and names are joined. */
function isIn(found: readonly unknown[], value: unknown): boolean {
  if (value === null || value === '') return found.every((each) => each === null)
  const text = String(value)
  return found.some((each) => {
    if (typeof each === 'number') return each === Number(value)
    if (/^\d{4}-\d\d-\d\dT/.test(text)) return Date.parse(String(each)) === Date.parse(text)
    return [each, ...String(each).split(' ')].includes(text)
  })
}
