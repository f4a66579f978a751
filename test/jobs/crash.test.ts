import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { folderWith } from '../support/folder.ts'
import { runLeadsheet, startLeadsheet } from '../support/leadsheet.ts'
import { random } from '../support/random.ts'
import { openSyncing } from '../support/syncing.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const KILLS = 25
const LEADS = 4_000
const SEED = Number(process.env['SEED'] ?? 1)

/** What a sync leaves behind, without what says when and by which run. */
async function contents(file: string): Promise<unknown> {
  await using store = await openStore(file, new Date())
  const { rows: leads } =
    await sql`SELECT id, status, score, value_amount, updated_at, raw FROM lead JOIN lead_raw ON lead_no = no ORDER BY id`.execute(
      store.db,
    )
  const { rows: versions } =
    await sql`SELECT lead_id, valid_from, valid_to, status FROM lead_version ORDER BY 1, 2`.execute(store.db)
  const { rows: check } = await sql`PRAGMA integrity_check`.execute(store.db)
  const { rows: orphans } = await sql`PRAGMA foreign_key_check`.execute(store.db)
  return { leads, versions, check, orphans }
}

describe('a sync killed with SIGKILL', () => {
  it(`resumes to the same tables as one that was never killed (${KILLS} kills, SEED=${SEED})`, async () => {
    await using upstream = await startUpstream(LEADS)
    const folder = folderWith({ 'small.yaml': 'api: { page_size: 100 }' })
    const env = { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'test-key', LEADSHEET_DATA_DIR: folder }
    const next = random(SEED)
    let inMidSync = 0
    let resumed = 0
    for (let kill = 0; kill < KILLS; kill++) {
      upstream.requests.length = 0
      const child = startLeadsheet(['sync', '--only', 'leads', '--full', '--config', 'small.yaml'], {
        cwd: folder,
        env,
      })
      await untilRequests(upstream, 1 + Math.floor(next() * 6), child)
      await waitMs(next() * 12)
      if (child.exitCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      if (child.signalCode === 'SIGKILL') inMidSync++
      if (upstream.requests[0]?.path.includes('cursor=')) resumed++
    }
    expect(inMidSync).toBeGreaterThan(KILLS * 0.8)
    expect(resumed).toBeGreaterThan(KILLS * 0.5)
    const last = await runLeadsheet(
      ['sync', '--only', 'leads', '--full', '--json', '--config', 'small.yaml'],
      { cwd: folder, env },
    )
    expect(JSON.parse(last.stdout)).toMatchObject({ outcome: expect.stringMatching(/^ok/), complete: true })

    await using whole = await openSyncing(upstream.url)
    await whole.sync({ parts: ['leads'], pageSize: 100 })
    const expected = await contents(join(whole.folder, 'leadsheet.db'))
    expect(await contents(join(folder, 'leadsheet.db'))).toEqual(expected)
  }, 120_000)
})

/** Until the upstream has had so many requests, or the program has ended. */
async function untilRequests(upstream: Upstream, count: number, child: ChildProcess): Promise<void> {
  while (upstream.requests.length < count && child.exitCode === null) await waitMs(1)
}

function waitMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
