/** A mail server with outages, and the daemon that sends a report through it. */
import { describe, expect, it } from 'vitest'
import { runLeadsheet } from '../../support/leadsheet.ts'
import {
  at,
  countSyncs,
  type Installation,
  openInstallation,
  outagesIn,
  readLedger,
  runUntil,
  statesIn,
} from '../../support/process/daemon-run.ts'
import { startGreylisting } from './greylisting.ts'
import { GONE } from './postfix.ts'
import { isWithoutServers, startServers, untilArrived } from './servers.ts'

const TEST_MS = 180_000
const ANA = 'ana@example.org'
const DANA = 'dana@example.org'

describe.skipIf(isWithoutServers)('a report through a Postfix that has a bad day', () => {
  it(
    'reaches everyone once: it is stopped for a while, puts one recipient off and refuses another',
    async () => {
      const greylisting = await startGreylisting([ANA])
      const servers = await startServers(greylisting.port)
      const installation = await openInstallation([ANA, DANA, GONE], servers.url)
      await runUntil(installation, at('06:55'), () => countSyncs(installation) > 0)

      await servers.postfix.stop()
      await runUntil(installation, at('07:00'), () => /ECONNREFUSED/.test(outagesIn(installation).join()))
      expect(statesIn(installation)).toEqual([`${ANA} pending`, `${DANA} pending`, `${GONE} pending`])

      await servers.postfix.start()
      const areAllTried = () =>
        repliesIn(installation).includes('450') &&
        statesIn(installation).join() === `${ANA} pending,${DANA} sent,${GONE} failed`
      await runUntil(installation, at('07:02'), areAllTried)

      greylisting.deferred.clear()
      await runUntil(installation, at('07:10'), () => statesIn(installation).includes(`${ANA} sent`))
      // A day on which only a sync is due.
      const syncs = countSyncs(installation)
      await runUntil(installation, at('09:00'), () => countSyncs(installation) > syncs)

      const ledger = readLedger(installation)
      expect(ledger).toMatchObject([
        { recipient: ANA, state: 'sent', unconfirmed_count: 0, response: expect.stringMatching(/^250 /) },
        { recipient: DANA, state: 'sent', unconfirmed_count: 0, response: expect.stringMatching(/^250 /) },
        {
          recipient: GONE,
          state: 'failed',
          unconfirmed_count: 0,
          response: expect.stringContaining('550 5.1.1'),
        },
      ])
      const { cwd, env } = installation
      const failed = await runLeadsheet(['outbox', 'list', '--state', 'failed', '--json'], { cwd, env })
      expect(JSON.parse(failed.stdout).data).toMatchObject([
        { recipient: GONE, state: 'failed', attempts: 1, reply_code: 550, next_attempt_at: null },
      ])
      expect(greylisting.asked.toSorted()).toEqual([ANA, ANA, DANA])
      for (const { recipient, message_id } of ledger.slice(0, 2)) {
        await using mailbox = await servers.open(recipient)
        await untilArrived(mailbox)
        expect(await mailbox.count()).toBe(1)
        const field = await mailbox.fetchBytes(1, 'BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)]')
        expect(field.toString().trim()).toBe(`Message-ID: ${message_id}`)
      }
    },
    TEST_MS,
  )
})

function repliesIn(installation: Installation): string {
  return readLedger(installation)
    .map(({ response }) => response)
    .join('\n')
}
