/** `leadsheet run` as its user runs it, at an instant of the test's choice, and what it has noted about letters. */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { finished, startLeadsheet } from './leadsheet.ts'
import { clockAt } from './shifted-clock.ts'

const POLL_MS = 20
const WITHIN_MS = 60_000

export interface Installation {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Of its database. */
  readonly file: string
}

/**
 * Starts the daemon, and ends it as an operator does as soon as that has come true.
 * @throws Error with what it has said, where it ends by itself or that does not come true
 */
export async function runUntil(
  { cwd, env }: Installation,
  instant: string,
  isReached: () => boolean,
): Promise<void> {
  const daemon = startLeadsheet(['run'], { cwd, env: { ...env, ...clockAt(instant) } })
  const end = finished(daemon)
  const until = performance.now() + WITHIN_MS
  while (!isReached() && daemon.exitCode === null && performance.now() < until) await sleep(POLL_MS)
  const hasReached = isReached()
  daemon.kill('SIGTERM')
  const { status, stdout, stderr } = await end
  if (status !== 0 || !hasReached) throw new Error(`the daemon ended with ${status}: ${stdout}${stderr}`)
}

export interface LedgerRow {
  readonly recipient: string
  readonly message_id: string
  readonly state: string
  readonly attempts: number
  readonly doubts: number
  readonly response: string | null
}

/** By recipient; nothing while there is no ledger yet. */
export function readLedger({ file }: Pick<Installation, 'file'>): LedgerRow[] {
  return readRows<LedgerRow>(file, 'SELECT * FROM delivery ORDER BY recipient')
}

/** Such as `ana@example.com sent`. */
export function statesIn(installation: Pick<Installation, 'file'>): string[] {
  return readLedger(installation).map(({ recipient, state }) => `${recipient} ${state}`)
}

export function countSyncs({ file }: Pick<Installation, 'file'>): number {
  return readRows(file, 'SELECT 1 FROM sync_run WHERE finished_at IS NOT NULL').length
}

function readRows<Row>(file: string, query: string): Row[] {
  if (!existsSync(file)) return []
  const database = new Database(file, { readonly: true })
  try {
    return database.prepare<[], Row>(query).all()
  } catch (thrown) {
    // Its first start is still making it.
    if (thrown instanceof Error && thrown.message.startsWith('no such table')) return []
    throw thrown
  } finally {
    database.close()
  }
}
