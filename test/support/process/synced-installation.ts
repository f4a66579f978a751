/** An installation that has synced the last days of the reference service. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { folderWith } from '../folder.ts'
import { startService } from '../service.ts'
import { clockStandingAt } from './shifted-clock.ts'
import { runWarm } from './warm-leadsheet.ts'

/**
 * Makes one for all tests of a file, before they run. Its service is gone afterwards.
 * @param now the time of the service and of the sync
 */
export function syncedForFile(settings: string, now: string, days: number) {
  const folder = mkdtempSync(join(tmpdir(), 'leadsheet-synced-'))
  const env = { ...clockStandingAt(now), LEADSHEET_LOG_LEVEL: 'error' }
  beforeAll(async () => {
    writeFileSync(join(folder, 'leadsheet.yaml'), settings)
    await using service = await startService(folder, new Date(now), days)
    const key = await service.createKey({ name: 'test', scope: 'read' })
    const upstream = { LEADSHEET_API_URL: service.url, LEADSHEET_API_KEY: key }
    const options = { cwd: folder, env: { ...env, ...upstream } }
    expect(await runWarm(['sync'], options)).toMatchObject({ status: 0 })
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  return {
    folder,
    env,
    /** Copies it for a test that changes it. */
    copy(): string {
      const cwd = folderWith()
      cpSync(folder, cwd, { recursive: true })
      return cwd
    },
  }
}
