/**
 * A program that reads the mailbox of bounces until nothing is new: `node bounce-reader.ts JOB`. It prints how much
 * memory it took at most, in MB.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { LeadsheetError } from '../../../src/errors.ts'
import { readBounces } from '../../../src/jobs/outbox/read-bounces.ts'
import { openMailbox } from '../../../src/mail/mailbox.ts'
import { openStore } from '../../../src/store/open.ts'

export interface ReaderJob {
  /** A file, or the URL of a store in PostgreSQL. */
  readonly file: string
  readonly mailbox: string
}

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? ''))

async function main({ file, mailbox }: ReaderJob): Promise<void> {
  const now = () => new Date()
  await using store = await openStore(file, now())
  const sender = {
    from: 'reports@example.com',
    replyTo: null,
    unsubscribe: { mailto: 'reports@example.com', pageOf: null },
  }
  const deps = {
    store,
    sender,
    reports: [],
    reader: { locale: 'en-GB', timeZone: 'UTC' },
    log: pino({ level: 'silent' }),
    now,
    suppressAfterBounces: 0,
    returnAddress: null,
    openMailbox: () => openMailbox(mailbox),
  }
  let messages = 1
  while (messages > 0) {
    const read = await readBounces(deps, new AbortController().signal).catch((thrown: unknown) => {
      if (thrown instanceof LeadsheetError && thrown.code === 'job_busy') return null
      throw thrown
    })
    if (read === null) await sleep(10)
    else messages = read.messages
  }
  process.stdout.write(`${Math.round(process.resourceUsage().maxRSS / 1024)}\n`)
}
