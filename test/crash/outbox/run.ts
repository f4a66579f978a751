/** Senders that can be killed, as processes. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../../src/store/db/store.ts'
import { finished } from '../../support/leadsheet.ts'
import { DKIM_KEY } from '../../support/mail/dkim.ts'
import { IN_POSTGRES } from '../../support/store.ts'
import { start } from '../support/program.ts'
import type { SenderJob } from './sender.ts'

const SENDER_PROGRAM = join(import.meta.dirname, 'sender.ts')

export type Job = Omit<SenderJob, 'dkim'>

export type Sender = ReturnType<typeof startSender>

export function startSender(job: Job) {
  const args = [JSON.stringify({ ...job, dkim: DKIM_KEY } satisfies SenderJob)]
  const child = start({ main: SENDER_PROGRAM, args, cwd: tmpdir(), env: {} })
  return { child, end: finished(child) }
}

interface Wanted {
  readonly kills: number
  readonly senders: number
  /** Random numbers from 0 up to 1. */
  readonly next: () => number
  readonly onKill: (kill: number) => void
}

/** A kill comes within this time after a step: about the time that a message takes, so every moment is hit. */
const KILL_WITHIN_MS = 4

/**
 * Lets senders send all messages. One of them is killed a moment after a message has reached a step, and replaced. The
 * step and the moment are random.
 * @param untilStep waits until a step of its choice has been reached so many times
 * @returns how many were killed
 */
export async function killSenders(
  store: Store,
  job: Job,
  untilStep: (times: number, next: () => number) => Promise<void>,
  { kills, senders, next, onKill }: Wanted,
): Promise<number> {
  const running: Sender[] = []
  let killed = 0
  for (;;) {
    while (running.length < senders) running.push(startSender(job))
    const ended = Promise.all(running.map(({ end }) => end))
    if (killed === kills) break
    // A part of the remaining messages is left for the next sender.
    const upTo = (0.8 * (await countUnsent(store))) / (kills - killed)
    const reached = untilStep(1 + Math.floor(next() * upTo), next)
    if ((await Promise.race([reached, ended.then(() => 'ended')])) === 'ended') break
    await sleep(next() * KILL_WITHIN_MS)
    const [gone] = running.splice(await findSending(store, running, next), 1)
    gone?.child.kill('SIGKILL')
    await gone?.end
    if (gone?.child.signalCode === 'SIGKILL') {
      killed++
      onKill(killed)
    }
  }
  for (const { status, stderr } of await Promise.all(running.map(({ end }) => end))) {
    if (status !== 0) throw new Error(`a sender ended with ${status}: ${stderr}`)
  }
  return killed
}

async function countUnsent({ db }: Store): Promise<number> {
  const left = db.selectFrom('delivery').where('next_attempt_at', 'is not', null).where('state', '<>', 'sent')
  return (await left.select('message_id').execute()).length
}

/** Returns the place of a sender. Of a file, one sends and the others wait; in PostgreSQL, all send. */
async function findSending({ db }: Store, running: readonly Sender[], next: () => number): Promise<number> {
  if (IN_POSTGRES) return Math.floor(next() * running.length)
  const holder = await db.selectFrom('lease').where('name', '=', 'delivery').select('pid').executeTakeFirst()
  const found = running.findIndex(({ child }) => child.pid === holder?.pid)
  return found < 0 ? running.length : found
}
