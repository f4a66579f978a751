/** Senders that can be killed, as processes. */
import type { ChildProcess } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Finished, finished } from '../../support/leadsheet.ts'
import { DKIM_KEY } from '../../support/mail/dkim.ts'
import { start } from '../support/program.ts'
import type { SenderJob } from './sender.ts'

const SENDER_PROGRAM = join(import.meta.dirname, 'sender.ts')

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
