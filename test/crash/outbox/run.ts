/** A mail server that fails now and then, and senders that can be killed, as processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { folderWith } from '../../support/folder.ts'
import { type Finished, finished } from '../../support/leadsheet.ts'
import { DKIM_KEY } from '../../support/mail/dkim.ts'
import { start } from '../support/program.ts'
import type { SenderJob } from './sender.ts'
import type { SinkEvent, SinkFaults } from './sink.ts'

const SENDER_PROGRAM = join(import.meta.dirname, 'sender.ts')
const SINK_PROGRAM = join(import.meta.dirname, 'sink.ts')
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
