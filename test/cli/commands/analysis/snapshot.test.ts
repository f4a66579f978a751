import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ask } from '../../../support/data/publishing.ts'
import { folderWith } from '../../../support/folder.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { startUpstream } from '../../../support/upstream.ts'

const LEADS = 30

/** Opens an upstream for a new installation, and the options of its commands. */
async function install(files: Readonly<Record<string, string>> = {}) {
  const upstream = await startUpstream(LEADS)
  onTestFinished(() => upstream[Symbol.asyncDispose]())
  const env = { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'test-key', LEADSHEET_DATA_DIR: 'data' }
  return { cwd: folderWith(files), env }
}

describe('leadsheet sync', () => {
  it('publishes what it has brought, and tells of it, once', async () => {
    const options = await install()
    const first = await runWarm(['sync', '--only', 'leads'], options)
    expect(first.stdout).toMatch(/^snapshot: \d+\.\d MB in \d+\.\d s$/m)
    expect(first.stderr).toBe('')
    expect(ask(join(options.cwd, 'data/snapshot.db'), 'SELECT count(*) AS n FROM lead')).toEqual([
      { n: LEADS },
    ])
    const second = await runWarm(['sync', '--only', 'leads'], options)
    expect(second.stdout).not.toContain('snapshot')
  })

  it('tries again the next time where the snapshot could not be written, though no lead has changed', async () => {
    const options = await install({ 'data/snapshot.db/in-the-way': '' })
    // `--new` is needed, because the folder looks like an installation that has lost its database.
    expect(await runWarm(['sync', '--only', 'leads', '--new'], options)).toMatchObject({ status: 3 })
    const { stdout } = await runWarm(['status'], options)
    expect(stdout).toMatch(/^There is no snapshot, though syncs have brought new data/)
    expect(stdout).not.toContain('All is well')
    rmSync(join(options.cwd, 'data', 'snapshot.db'), { recursive: true })
    const next = await runWarm(['sync', '--only', 'leads'], options)
    expect(next).toMatchObject({ status: 0, stdout: expect.stringContaining('snapshot: ') })
  })
})

describe('leadsheet snapshot', () => {
  it('makes the file now, and says what it covers', async () => {
    const options = await install()
    await runWarm(['sync', '--only', 'leads'], options)
    rmSync(join(options.cwd, 'data/snapshot.db'))
    const { status, stdout } = await runWarm(['snapshot', '--json'], options)
    expect(status).toBe(0)
    const { file, leads_as_of } = JSON.parse(stdout).data
    expect(ask(file, 'SELECT leads_as_of FROM snapshot_info')).toEqual([{ leads_as_of }])
  })

  it('tells to sync first where there is nothing to show, and makes no data directory', async () => {
    const cwd = folderWith()
    const run = await runWarm(['snapshot'], { cwd, env: { LEADSHEET_DATA_DIR: 'mistyped' } })
    expect([run.status, run.stderr]).toEqual([1, expect.stringContaining('leadsheet sync')])
    expect(existsSync(join(cwd, 'mistyped'))).toBe(false)
  })
})
