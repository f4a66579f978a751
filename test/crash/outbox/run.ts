/**
 * One run of the outbox tests: a store with waiting messages, a mail server, and senders that are killed one
 * after the other.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { fileOf } from '../../../src/store/db/place.ts'
import { folderWith } from '../../support/folder.ts'
import { type Finished, finished } from '../../support/leadsheet.ts'
import { DKIM_KEY } from '../../support/mail/dkim.ts'
import { CONTENT, openLedger } from '../../support/mail/ledger.ts'
import { FILES } from '../../support/mail/message.ts'
import { start } from '../support/program.ts'
import type { SenderJob } from './sender.ts'
import type { SinkEvent, SinkFaults } from './sink.ts'

const SENDER_PROGRAM = join(import.meta.dirname, 'sender.ts')
const SINK_PROGRAM = join(import.meta.dirname, 'sink.ts')
/**
 * A kill comes within this time after a step. It is about the time that a message takes, so every moment is
 * hit.
 */
export const KILL_WITHIN_MS = 4

/** @returns the file of a store with a message for each of `count` recipients */
export async function openStoreWithMessages(count: number): Promise<string> {
  const recipients = Array.from({ length: count }, (_, number) => `r${1_000 + number}@example.org`)
  await using ledger = await openLedger(recipients, { ...CONTENT, files: FILES })
  return fileOf(ledger.store)
}

export interface Sink {
  readonly url: string
  readonly log: string
  /** Resolves when the mail server has reported the event so many times from now on. */
  untilEvent(event: SinkEvent, times: number): Promise<void>
}

/** Starts the mail server for the current test. */
export async function startSink(faults: SinkFaults): Promise<Sink> {
  const log = join(folderWith(), 'arrivals')
  writeFileSync(log, '')
  const child = spawn(process.execPath, [SINK_PROGRAM, log, JSON.stringify(faults)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })
  const [first] = await once(lines, 'line')
  return {
    url: `smtp://127.0.0.1:${String(first).replace('port ', '')}`,
    log,
    untilEvent: (event, times) =>
      new Promise((resolve) => {
        let left = times
        const onLine = (line: string): void => {
          if (line !== event || --left > 0) return
          lines.off('line', onLine)
          resolve()
        }
        lines.on('line', onLine)
      }),
  }
}

export type Job = Omit<SenderJob, 'dkim'>

export interface Sender {
  readonly child: ChildProcess
  readonly end: Promise<Finished>
}

export function startSender(job: Job): Sender {
  const args = [JSON.stringify({ ...job, dkim: DKIM_KEY } satisfies SenderJob)]
  const child = start({ main: SENDER_PROGRAM, args, cwd: tmpdir(), env: {} })
  return { child, end: finished(child) }
}

export const EVENTS = ['MAIL', 'RCPT', 'DATA', 'bytes', 'dot'] as const satisfies readonly SinkEvent[]

interface Killing {
  readonly kills: number
  /** The number of senders that wait to take over from the active one. */
  readonly standby: number
  readonly next: () => number
  /** Called after each kill. True ends the kills. */
  readonly isEnough?: () => boolean
}

/**
 * Lets senders send all messages. The active sender is killed with SIGKILL, a moment after a session has
 * reached a step. The step and the moment are random.
 * @returns how many were killed
 */
export async function sendThroughKills(
  job: Job,
  sink: Sink,
  { kills, standby, next, isEnough = () => false }: Killing,
): Promise<number> {
  const running: Sender[] = []
  let killed = 0
  while (killed < kills && !isEnough()) {
    while (running.length < 1 + standby) running.push(startSender(job))
    // A part of the remaining messages is left for the next sender.
    const upTo = (0.8 * countUnsent(job.file)) / (kills - killed)
    const event = EVENTS[Math.floor(next() * EVENTS.length)] ?? 'dot'
    const reached = sink.untilEvent(event, 1 + Math.floor(next() * upTo))
    const ended = Promise.all(running.map(({ end }) => end)).then(() => 'ended')
    if ((await Promise.race([reached, ended])) === 'ended') break
    await sleep(next() * KILL_WITHIN_MS)
    const pid = standby === 0 ? running[0]?.child.pid : readHolder(job.file)
    const sending = running.findIndex(({ child }) => child.pid === pid)
    const [gone] = sending < 0 ? [] : running.splice(sending, 1)
    gone?.child.kill('SIGKILL')
    await gone?.end
    if (gone?.child.signalCode === 'SIGKILL') killed++
  }
  if (isEnough()) return killed
  if (running.length === 0) running.push(startSender(job))
  for (const { status, stderr } of await Promise.all(running.map(({ end }) => end))) {
    if (status !== 0) throw new Error(`a sender ended with ${status}: ${stderr}`)
  }
  return killed
}

function countUnsent(file: string): number {
  return Number(
    readOne(file, "SELECT count(*) FROM delivery WHERE next_attempt_at IS NOT NULL AND state <> 'sent'"),
  )
}

/** Reads the process id of the active sender. */
function readHolder(file: string): unknown {
  return readOne(file, "SELECT pid FROM lease WHERE name = 'delivery'")
}

function readOne(file: string, query: string): unknown {
  const database = new Database(file, { readonly: true })
  try {
    return database.prepare(query).pluck().get()
  } finally {
    database.close()
  }
}
