/**
 * Runs `leadsheet run` as a user would, starting at an instant of the test's choice, and reads what it has
 * recorded about messages.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import type { Row } from '../../../src/store/tables/tables.ts'
import { folderWith } from '../folder.ts'
import { finished, startLeadsheet } from '../leadsheet.ts'
import { startService } from '../service.ts'
import { clockAt } from './shifted-clock.ts'

const POLL_MS = 20
const WITHIN_MS = 200_000
const HISTORY_DAYS = 20

interface Installation {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The file of its database. */
  readonly file: string
}

/** Returns an instant on the morning on which the report of {@link openInstallation} is due. */
export function at(time: string): string {
  return `2026-11-24T${time}:00Z`
}

/**
 * Makes a service and the settings for a report at 07:00. No daemon has run yet.
 * @param smtpUrl may differ for each start of the daemon
 */
export async function openInstallation(
  recipients: readonly string[],
  smtpUrl = 'smtp://127.0.0.1:1',
): Promise<Installation> {
  const service = await startService(folderWith(), new Date(at('06:50')), HISTORY_DAYS)
  onTestFinished(() => service.close())
  const cwd = folderWith({
    'leadsheet.yaml': `
data_dir: data
snapshot: { when: never }
enrichment: { policy: none }
reports: [{ name: daily, schedule: "0 7 * * *" }]
recipients: [${recipients.join(', ')}]
mail: { from: reports@example.com }
`,
  })
  return {
    cwd,
    file: join(cwd, 'data', 'leadsheet.db'),
    env: {
      LEADSHEET_API_URL: service.url,
      LEADSHEET_API_KEY: await service.createKey({ name: 'test', scope: 'read' }),
      LEADSHEET_MAIL_URL: smtpUrl,
    },
  }
}

/**
 * Starts the daemon and stops it as an operator does, as soon as the condition holds.
 * @throws Error with the daemon's output if it ends by itself or the condition never holds
 */
export async function runUntil(
  installation: Installation,
  instant: string,
  isReached: () => boolean,
): Promise<void> {
  const { cwd, env } = installation
  const child = startLeadsheet(['run'], { cwd, env: { ...env, ...clockAt(instant) } })
  const end = finished(child)
  const until = performance.now() + WITHIN_MS
  while (!isReached() && child.exitCode === null && performance.now() < until) await sleep(POLL_MS)
  const hasReached = isReached()
  child.kill('SIGTERM')
  const { status, stdout, stderr } = await end
  if (status !== 0 || !hasReached) throw new Error(`the daemon ended with ${status}: ${stdout}${stderr}`)
}

/** Returns the rows by recipient; none before the first start of the daemon has made the table. */
export function readLedger({ file }: Pick<Installation, 'file'>): Row<'delivery'>[] {
  if (!existsSync(file)) return []
  const database = new Database(file, { readonly: true })
  try {
    return database.prepare<[], Row<'delivery'>>('SELECT * FROM delivery ORDER BY recipient').all()
  } catch (thrown) {
    // The first start has not made the table yet.
    if (thrown instanceof Error && thrown.message.startsWith('no such table')) return []
    throw thrown
  } finally {
    database.close()
  }
}
