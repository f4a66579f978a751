/**
 * A user's whole way with a real server: probe it, sync with the written profile, and look at the stored
 * leads. If a server is not installed, its test is skipped with a message.
 */
import { describe, expect, test } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { runLeadsheet } from '../support/leadsheet.ts'
import { JSON_SERVER } from './json-server.ts'
import { POWERDNS } from './powerdns.ts'
import { RABBITMQ } from './rabbitmq.ts'
import { isMissing, type RealServer, storedIn } from './real-server.ts'

const SERVERS = [
  {
    kind: JSON_SERVER,
    records: 2_317,
    finds: { 'paging.kind': 'page by _page from 1', auth: 'none' },
    lacks: [],
  },
  {
    kind: POWERDNS,
    records: 2_143,
    finds: { 'paging.kind': 'none', auth: 'X-API-Key: {key}' },
    lacks: ['mapping.lead.status'],
  },
  {
    kind: RABBITMQ,
    records: 2_087,
    finds: { 'paging.kind': 'page by page from 1', auth: 'Authorization: Basic {basic}' },
    lacks: ['mapping.lead.status', 'mapping.lead.company_name'],
  },
]
/** The limit is long, because the machine may be busy. */
const TEST_MS = 150_000

interface Probed {
  readonly complete: boolean
  readonly requests: number
  readonly findings: readonly { place: string; value: string; confidence: string; evidence: string }[]
  readonly gaps: readonly { place: string; problem: string; remedy: string | null }[]
}

describe.each(SERVERS)('$kind.name', ({ kind, records, finds, lacks }) => {
  test.skipIf(isMissing(kind))(
    'is probed, and a sync by what was written stores its records, no more and no less, as they come and go',
    async () => {
      const server = await kind.start(records)
      const user = userOf(server)

      const probed = await user.probe()
      expect(Object.fromEntries(probed.findings.map(({ place, value }) => [place, value]))).toMatchObject(
        finds,
      )
      expect(probed.gaps.filter(({ remedy }) => remedy !== null).map(({ place }) => place)).toEqual(lacks)
      expect(probed.complete).toBe(lacks.length === 0)
      expect(probed.requests).toBeLessThanOrEqual(45)

      expect(await user.sync()).toMatchObject({ outcome: 'ok', leads: { inserted: records, quarantined: 0 } })
      expect(await user.stored()).toEqual(await server.list())
      expect(await user.sync('--full')).toMatchObject({
        leads: { inserted: 0, updated: 0, unchanged: records, deleted: 0 },
      })

      const gone = [...(await server.list()).keys()].slice(40, 47)
      await server.remove(gone)
      await server.add(5)
      expect(await user.sync('--full')).toMatchObject({ leads: { inserted: 5, updated: 0, deleted: 0 } })
      expect(await user.sync('--full')).toMatchObject({ leads: { inserted: 0, updated: 0, deleted: 7 } })
      expect(await user.stored()).toEqual(await server.list())
    },
    TEST_MS,
  )
})

/** Runs the commands of a user in a new folder. */
function userOf(server: RealServer) {
  const cwd = folderWith()
  const env = {
    LEADSHEET_API_URL: server.url,
    LEADSHEET_DATA_DIR: 'data',
    ...(server.key === '' ? {} : { LEADSHEET_API_KEY: server.key }),
  }
  return {
    async probe(): Promise<Probed> {
      const run = await runLeadsheet(['probe', server.url, '-o', 'profile.yaml', '--json'], { cwd, env })
      expect(run.stdout, run.stderr).not.toBe('')
      const probed = JSON.parse(run.stdout).data as Probed
      expect(run.status).toBe(probed.complete ? 0 : 3)
      return probed
    },
    async sync(...args: string[]): Promise<unknown> {
      const profile = { ...env, LEADSHEET_API_PROFILE: 'profile.yaml' }
      const run = await runLeadsheet(['sync', '--json', ...args], { cwd, env: profile })
      expect(run, run.stderr).toMatchObject({ status: 0 })
      return JSON.parse(run.stdout).data
    },
    stored: () => storedIn(cwd),
  }
}
