/**
 * A program that sends the waiting messages of a store until none is left: `node sender.ts JOB`. While
 * nothing is due, it moves its own clock forward, so that it never waits long.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { LeadsheetError } from '../../../src/errors.ts'
import { createRateLimit } from '../../../src/jobs/outbox/rate-limit.ts'
import type { DeliverDeps } from '../../../src/jobs/outbox/send-batch.ts'
import { deliverDue } from '../../../src/jobs/outbox/send-due.ts'
import { openOAuthKeys } from '../../../src/login/oauth-keys.ts'
import type { Login } from '../../../src/login/token-request.ts'
import type { DkimKey } from '../../../src/mail/message.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { listHeldLeases } from '../../../src/store/schedule/lease.ts'

export interface SenderJob {
  /** A file, or the URL of a store in PostgreSQL. */
  readonly file: string
  readonly url: string
  readonly dkim: DkimKey
  /** The login by OAuth, and the file with its tokens; absent for a server that lets everybody in. */
  readonly oauth?: { readonly login: Login; readonly file: string }
}

const MINUTE_MS = 60_000
const PAUSE_MS = 10
/** A limit that never applies. */
const MESSAGES_PER_MINUTE = 100_000

async function main({ file, url, dkim, oauth }: SenderJob): Promise<void> {
  const log = pino({ level: 'silent' })
  await using store = await openStore(file, new Date())
  const backoff = { attempts: 1, baseMs: 0, maxMs: 0 }
  const tokens =
    oauth &&
    openOAuthKeys(oauth.login, { file: oauth.file, log, now: () => new Date(), maxWaitMs: 0, backoff })
  const now = (): Date => new Date(Date.now() + clock.aheadMs)
  await using transport = openTransport(url, { log, dkim, now, ...(tokens && { tokens }) })
  const policy = { rateLimit: createRateLimit(MESSAGES_PER_MINUTE), isRecipient: () => true }
  await sendAll({ store, transport, log, policy })
}

/** The clock of this sender, ahead of the real one. */
const clock = { aheadMs: 0 }

async function sendAll(deps: Omit<DeliverDeps, 'now'>): Promise<void> {
  const { store } = deps
  const { signal } = new AbortController()
  let idleMinutes = 0
  while (await isAnyLeft(store)) {
    clock.aheadMs = (await findLastMove(store)) - Date.now() + idleMinutes * MINUTE_MS
    const now = (): Date => new Date(Date.now() + clock.aheadMs)
    if (await deliverDue({ ...deps, now }, signal).catch(falseIfTakenOver)) idleMinutes = 0
    // While another process sends, that process moves the clock.
    else if ((await listHeldLeases(store.db, now())).length > 0) await sleep(PAUSE_MS)
    else idleMinutes++
  }
}

function falseIfTakenOver(thrown: unknown): false {
  if (thrown instanceof LeadsheetError && thrown.code === 'job_busy') return false
  throw thrown
}

async function isAnyLeft({ db }: Store): Promise<boolean> {
  const left = db.selectFrom('delivery').where('next_attempt_at', 'is not', null)
  return (await left.select('message_id').limit(1).execute()).length > 0
}

/**
 * Finds the time of the last event of any message, in ms. The clock of the next sender must not start
 * earlier.
 */
export async function findLastMove({ db }: Store): Promise<number> {
  const { at } = await db
    .selectFrom('delivery')
    .select((eb) => eb.fn.max('state_at').as('at'))
    .executeTakeFirstOrThrow()
  return Date.parse(at)
}

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? ''))
