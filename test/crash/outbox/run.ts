/** Senders that can be killed, as processes. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from '../../support/leadsheet.ts'
import { DKIM_KEY } from '../../support/mail/dkim.ts'
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
