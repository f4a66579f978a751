// @both-stores
/**
 * Recipients that their server refuses in one issue after another. They are reported after three, and paused
 * after the number in the settings.
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import { changePreference, pauseRefused } from '../../../src/jobs/reports/preferences.ts'
import { listRefusing } from '../../../src/store/outbox/delivery-problems.ts'
import { saveIssue } from '../../../src/store/reports/issue.ts'
import { listPreferences } from '../../../src/store/reports/preference.ts'
import { enqueueTo, openPost } from '../../support/mail/ledger.ts'
import { openMailServer, refusal } from '../../support/mail-server.ts'

const DAY_MS = 86_400_000
const GONE = 'gone@example.com'

/**
 * Opens a daily report for two people. The mail server says that one of them does not exist, as long as the
 * test wants it.
 */
async function openDays() {
  const refused = { code: 550 as number | null, isForAll: false }
  const answer = (address: string): Error | null => {
    if (refused.code === null || (address !== GONE && !refused.isForAll)) return null
    return refusal(refused.code, refused.isForAll ? `5.4.7 ${address}?` : 'no such user')
  }
  const post = await openPost(
    [],
    openMailServer({ onRcptTo: ({ address }, _session, done) => done(answer(address)) }),
  )
  onTestFinished(() => post[Symbol.asyncDispose]())
  const { store, clock, issue: first } = post
  return {
    store,
    clock,
    refused,
    pause: (suppressAfterBounces: number) => pauseRefused({ ...post.deps, suppressAfterBounces }),
    /** Makes and sends one issue each day. */
    async passDays(days: number): Promise<void> {
      for (let day = 0; day < days; day++) {
        const from = clock.now.toISOString()
        clock.now = new Date(clock.now.getTime() + DAY_MS)
        const at = clock.now.toISOString()
        const { id: _, ...unsaved } = { ...first, period: { from, to: at, timeZone: 'UTC' }, renderedAt: at }
        await store.write(async (trx) => {
          const issue = await saveIssue(trx, unsaved)
          for (const address of ['ana@example.com', GONE]) await enqueueTo(trx, store, issue, address)
        })
        await post.deliver()
      }
    },
    preferences: async () => (await listPreferences(store.db)).map(({ address, state }) => [address, state]),
  }
}

describe('a recipient whose server refuses issue after issue', () => {
  it('is named after three in a row, and paused after as many as the settings say, with what the server said, and never with 0', async () => {
    const days = await openDays()
    await days.passDays(2)
    expect(await listRefusing(days.store.db, 3)).toEqual([])
    await days.passDays(1)
    expect(await listRefusing(days.store.db, 3)).toMatchObject([
      { recipient: GONE, report: 'daily', issues: 3, response: '550 no such user' },
    ])
    await days.passDays(1)
    await days.pause(5)
    await days.passDays(1)
    await days.pause(0)
    expect(await days.preferences()).toEqual([])
    await days.pause(5)
    const reason = '5 issues in a row were refused or came back: 550 no such user'
    expect(await listPreferences(days.store.db)).toMatchObject([
      { address: GONE, report: 'daily', state: 'paused', changedBy: 'leadsheet', reason },
    ])
  })

  it('begins anew with each message that is taken', async () => {
    const days = await openDays()
    await days.passDays(4)
    days.refused.code = null
    await days.passDays(1)
    days.refused.code = 550
    await days.passDays(4)
    expect(await listRefusing(days.store.db, 5)).toEqual([])
  })

  it('is not counted for what was only deferred', async () => {
    const days = await openDays()
    days.refused.code = 450
    await days.passDays(5)
    expect(await listRefusing(days.store.db, 1)).toEqual([])
  })

  it('is not to blame where most recipients of the issue got the same answer', async () => {
    const days = await openDays()
    days.refused.isForAll = true
    await days.passDays(5)
    await days.pause(5)
    expect([await days.preferences(), await listRefusing(days.store.db, 1)]).toEqual([[], []])
    days.refused.isForAll = false
    await days.passDays(4)
    expect(await listRefusing(days.store.db, 1)).toMatchObject([{ recipient: GONE, issues: 4 }])
  })

  it('begins anew where a person has it resumed', async () => {
    const days = await openDays()
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
