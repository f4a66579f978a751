// @both-stores
/**
 * Recipients that their server refuses in one issue after another. They are reported after three, and paused
 * after the number in the settings.
 */
import { describe, expect, it } from 'vitest'
import { messageFor } from '../../../src/jobs/outbox/compose-message.ts'
import { deliverDue } from '../../../src/jobs/outbox/send-due.ts'
import { changePreference, pauseRefused } from '../../../src/jobs/reports/preferences.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { listRefusing } from '../../../src/store/outbox/delivery-problems.ts'
import { saveIssue } from '../../../src/store/reports/issue.ts'
import { listPreferences } from '../../../src/store/reports/preference.ts'
import { CONTENT, openLedger } from '../../support/mail/ledger.ts'
import { enqueueMessage, SENDER } from '../../support/mail/message.ts'
import { openMailServer } from '../../support/mail-server.ts'
import { SILENT } from '../../support/syncing.ts'

const { signal } = new AbortController()
const DAY_MS = 86_400_000
const GONE = 'gone@example.com'

/**
 * Opens a daily report for two people. The mail server says that one of them does not exist, as long as the
 * test wants it.
 */
async function openDays() {
  const ledger = await openLedger([])
  const refusal = { code: 550 as number | null, isForAll: false }
  const server = await openMailServer({
    onRcptTo: ({ address }, _session, done) =>
      done(
        (address === GONE || refusal.isForAll) && refusal.code !== null
          ? Object.assign(new Error(refusal.isForAll ? `5.4.7 ${address}?` : 'no such user'), {
              responseCode: refusal.code,
            })
          : null,
      ),
  })
  const transport = openTransport(server.url, { log: SILENT })
  const { store, clock } = ledger
  const pause = (suppressAfterBounces: number) =>
    pauseRefused({ ...ledger.deps, suppressAfterBounces: suppressAfterBounces })
  /** Makes and sends one issue. */
  const passDay = async (): Promise<void> => {
    clock.now = new Date(clock.now.getTime() + DAY_MS)
    const at = clock.now.toISOString()
    const period = { from: new Date(clock.now.getTime() - DAY_MS).toISOString(), to: at, timeZone: 'UTC' }
    const { figures, subject, html, text, report, variant, programVersion } = ledger.issue
    const unsaved = { figures, subject, html, text, report, variant, programVersion, period, renderedAt: at }
    await store.write(async (trx) => {
      const issue = await saveIssue(trx, unsaved)
      for (const address of ['ana@example.com', GONE]) {
        const message = messageFor(store, issue, { address, name: null }, CONTENT, SENDER)
        await enqueueMessage(trx, issue.id, message, at)
      }
    })
    await deliverDue({ ...ledger.deps, transport }, signal)
  }
  const passDays = async (days: number): Promise<void> => {
    for (let day = 0; day < days; day++) await passDay()
  }
  const preferences = async () =>
    (await listPreferences(store.db)).map(({ address, state }) => [address, state])
  return {
    store,
    clock,
    refusal,
    pause,
    passDays,
    preferences,
    async [Symbol.asyncDispose]() {
      await transport.close()
      await server[Symbol.asyncDispose]()
      await ledger[Symbol.asyncDispose]()
    },
  }
}

describe('a recipient whose server refuses issue after issue', () => {
  it('is named after three in a row, with what the server said', async () => {
    await using days = await openDays()
    await days.passDays(2)
    expect(await listRefusing(days.store.db, 3)).toEqual([])
    await days.passDays(1)
    expect(await listRefusing(days.store.db, 3)).toMatchObject([
      { recipient: GONE, report: 'daily', issues: 3, response: '550 no such user' },
    ])
  })

  it('is paused after as many as the settings say, by leadsheet and with the reason, and never with 0', async () => {
    await using days = await openDays()
    await days.passDays(4)
    await days.pause(5)
    expect(await days.preferences()).toEqual([])
    await days.passDays(1)
    await days.pause(0)
    expect(await days.preferences()).toEqual([])
    await days.pause(5)
    expect(await listPreferences(days.store.db)).toMatchObject([
      {
        address: GONE,
        report: 'daily',
        state: 'paused',
        changedBy: 'leadsheet',
        reason: '5 issues in a row were refused: 550 no such user',
      },
    ])
  })

  it('begins anew with each message that is taken', async () => {
    await using days = await openDays()
    await days.passDays(4)
    days.refusal.code = null
    await days.passDays(1)
    days.refusal.code = 550
    await days.passDays(4)
    expect(await listRefusing(days.store.db, 5)).toEqual([])
  })

  it('is not counted for what was only deferred', async () => {
    await using days = await openDays()
    days.refusal.code = 450
    await days.passDays(5)
    expect(await listRefusing(days.store.db, 1)).toEqual([])
  })

  it('is not to blame where most recipients of the issue got the same answer', async () => {
    await using days = await openDays()
    days.refusal.isForAll = true
    await days.passDays(5)
    await days.pause(5)
    expect([await days.preferences(), await listRefusing(days.store.db, 1)]).toEqual([[], []])
    days.refusal.isForAll = false
    await days.passDays(4)
    expect(await listRefusing(days.store.db, 1)).toMatchObject([{ recipient: GONE, issues: 4 }])
  })

  it('begins anew where a person has it resumed', async () => {
    await using days = await openDays()
    await days.passDays(5)
    await days.pause(5)
    const key = { address: GONE, report: 'daily' }
    const operator = { by: 'operator', reason: null } as const
    days.clock.now = new Date(days.clock.now.getTime() + 60_000)
    await changePreference(days.store, key, 'resume', operator, days.clock.now)
    await days.pause(5)
    await days.passDays(4)
    await days.pause(5)
    expect(await days.preferences()).toEqual([[GONE, 'active']])
    await days.passDays(1)
    await days.pause(5)
    expect(await days.preferences()).toEqual([[GONE, 'paused']])
  })
})
