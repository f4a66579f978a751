// @both-stores
import { describe, expect, test } from 'vitest'
import { periodBetween } from '../../../src/domain/period.ts'
import { issueState, variantText } from '../../../src/jobs/archive/archive.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { enqueueMessages, moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { addToPack, createMessagePack } from '../../../src/store/outbox/stored-message.ts'
import { noteNotSent, saveIssue } from '../../../src/store/reports/issue.ts'
import { listIssues } from '../../../src/store/reports/issue-list.ts'
import { enqueueMessage, MESSAGE } from '../../support/mail/message.ts'
import { busyDay } from '../../support/reports/figures.ts'
import { openEmptyStore } from '../../support/store.ts'

const NO_MESSAGES = { total: 0, sent: 0, failed: 0, unconfirmed: 0, withdrawn: 0 }

interface Kept {
  readonly report?: string
  readonly variant?: string
  readonly subject?: string
  readonly notSent?: string | null
}

/** Saves an issue of a day in November 2026, with a message for each state. */
async function keep(store: Store, date: string, kept: Kept, states: readonly ('sent' | 'failed')[] = []) {
  const to = new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10)
  const { report = 'daily', variant = '', subject = `of ${date}`, notSent = null } = kept
  return store.write(async (trx) => {
    const issue = await saveIssue(trx, {
      report,
      period: periodBetween(date, to, 'UTC'),
      variant,
      subject,
      renderedAt: `${to}T07:00:00.000Z`,
      programVersion: '1.2.3',
      figures: busyDay(),
      html: 'h',
      text: 't',
    })
    await noteNotSent(trx, issue.id, notSent)
    for (const [index, state] of states.entries()) {
      const messageId = `<${index}@${issue.id}>`
      await enqueueMessage(trx, issue.id, { ...MESSAGE, messageId, to: `${index}@example.com` }, MESSAGE.date)
      await moveDelivery(trx, messageId, ['pending'], { state, at: MESSAGE.date })
    }
    return issue
  })
}

describe('the issues that are kept', () => {
  test('are listed newest first, with how far their messages are', async () => {
    await using store = await openEmptyStore()
    await keep(store, '2026-11-19', {}, ['sent', 'sent', 'failed'])
    await keep(store, '2026-11-20', { variant: '{"pipelineIds":["eu"],"conditions":[]}' })
    await keep(store, '2026-11-20', { report: 'weekly', notSent: 'nothing happened' })
    const all = await listIssues(store.db, null, 10)
    expect(all.map(({ report, period, messages }) => [report, period.from.slice(0, 10), messages])).toEqual([
      ['daily', '2026-11-20', NO_MESSAGES],
      ['weekly', '2026-11-20', NO_MESSAGES],
      ['daily', '2026-11-19', { ...NO_MESSAGES, total: 3, sent: 2, failed: 1 }],
    ])
    expect((await listIssues(store.db, 'weekly', 10)).map(({ notSent }) => notSent)).toEqual([
      'nothing happened',
    ])
    expect(await listIssues(store.db, null, 1)).toHaveLength(1)
  })

  test('count a copy that was sent again apart from the message that the recipient already has', async () => {
    await using store = await openEmptyStore()
    const { id } = await keep(store, '2026-11-20', {})
    await store.write(async (trx) => {
      for (const revision of [0, 1, 2]) {
        const pack = createMessagePack()
        addToPack(pack, { ...MESSAGE, messageId: `<${revision}@example.com>` })
        await enqueueMessages(trx, { issueId: id, revision }, pack, MESSAGE.date)
      }
      const sent = { state: 'sent', at: MESSAGE.date, nextAttemptAt: null, response: '250 Ok' } as const
      await moveDelivery(trx, '<0@example.com>', ['pending'], sent)
      await moveDelivery(trx, '<1@example.com>', ['pending'], sent)
    })
    const [listed] = await listIssues(store.db, null, 10)
    expect(listed && issueState(listed)).toBe('sent to 1; again to 0 of 1, 1 waiting')
  })
})

test.each([
  [{ notSent: null, messages: NO_MESSAGES, copies: NO_MESSAGES }, 'looked at, not sent'],
  [{ notSent: 'quiet', messages: NO_MESSAGES, copies: NO_MESSAGES }, 'not sent: quiet'],
  [{ notSent: null, messages: { ...NO_MESSAGES, total: 12, sent: 12 }, copies: NO_MESSAGES }, 'sent to 12'],
  [
    {
      notSent: null,
      messages: { total: 10, sent: 5, failed: 1, unconfirmed: 1, withdrawn: 1 },
      copies: NO_MESSAGES,
    },
    'sent to 5 of 10, 1 refused, 1 unconfirmed, 1 not wanted, 2 waiting',
  ],
  [
    {
      notSent: null,
      messages: { ...NO_MESSAGES, total: 2, sent: 2 },
      copies: { ...NO_MESSAGES, total: 1, sent: 1 },
    },
    'sent to 2; again to 1',
  ],
  [
    {
      notSent: null,
      messages: { ...NO_MESSAGES, total: 3, sent: 2, failed: 1 },
      copies: { ...NO_MESSAGES, total: 2, sent: 1 },
    },
    'sent to 2 of 3, 1 refused; again to 1 of 2, 1 waiting',
  ],
])('the state of %j is told as "%s"', (issue, state) => {
  expect(issueState(issue)).toBe(state)
})

test('a variant is told by its conditions', () => {
  const conditions = [
    { field: 'company_country', in: ['Germany', 'Austria'] },
    { field: 'score', min: 60, max: null },
    { field: 'value_amount', min: 1, max: 5 },
  ]
  expect(variantText('')).toBeNull()
  expect(variantText(JSON.stringify({ pipelineIds: ['eu', 'us'], conditions }))).toBe(
    'pipelines eu, us; company_country Germany, Austria; score from 60; value_amount from 1 to 5',
  )
})
