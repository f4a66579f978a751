// @both-stores
import { expect, it } from 'vitest'
import { periodBetween } from '../../../src/domain/period.ts'
import { issueState, variantText } from '../../../src/jobs/archive/archive.ts'
import { type IssueChoice, searchIssues, wordsIn } from '../../../src/jobs/archive/search-issues.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { enqueueMessage, enqueueMessages, moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { addToPack, createMessagePack } from '../../../src/store/outbox/stored-message.ts'
import { noteNotSent, saveIssue } from '../../../src/store/reports/issue.ts'
import { listIssues } from '../../../src/store/reports/issue-list.ts'
import { ISSUE_STATES } from '../../../src/store/reports/issue-search.ts'
import { MESSAGE, unsavedIssue } from '../../support/mail/message.ts'
import { openEmptyStore } from '../../support/store.ts'

interface Kept {
  readonly report?: string
  readonly from: string
  readonly to: string
  readonly timeZone?: string
  readonly variant?: string
  readonly text?: string
  readonly notSent?: string
  /** The states of the messages, by the name of the recipient. */
  readonly messages?: Readonly<Record<string, 'pending' | 'sent' | 'failed' | 'unconfirmed'>>
}

/** Saves an issue with a subject that the test can recognise. */
async function keep(store: Store, subject: string, kept: Kept) {
  const { report = 'daily', from, to, timeZone = 'UTC', variant = '', text = '', notSent = null } = kept
  return store.write(async (trx) => {
    const period = periodBetween(from, to, timeZone)
    const renderedAt = `${to}T07:00:00.000Z`
    const { id } = await saveIssue(trx, unsavedIssue({ report, period, variant, subject, text, renderedAt }))
    if (notSent !== null) await noteNotSent(trx, id, notSent)
    for (const [recipient, state] of Object.entries(kept.messages ?? {})) {
      const messageId = `<${recipient}-${id}>`
      await enqueueMessage(trx, id, { ...MESSAGE, messageId, to: recipient }, MESSAGE.date)
      if (state === 'pending') continue
      await moveDelivery(trx, messageId, ['pending'], { state, at: MESSAGE.date, nextAttemptAt: null })
    }
    return id
  })
}

const NO_MESSAGES = {
  total: 0,
  sent: 0,
  failed: 0,
  bounced: 0,
  complained: 0,
  unconfirmed: 0,
  withdrawn: 0,
}
const THURSDAY = { from: '2026-11-19', to: '2026-11-20' }
const FRIDAY = { from: '2026-11-20', to: '2026-11-21' }

async function openKept() {
  const store = await openEmptyStore()
  await keep(store, 'Thursday, before it was made anew', { ...THURSDAY, text: 'unread' })
  const thursday = await keep(store, 'Thursday', {
    ...THURSDAY,
    text: 'Leads in the copy: 5,706\nMüller & Söhne is new',
    messages: { 'ana@example.com': 'sent', 'ben@example.com': 'failed' },
  })
  // Copies that are sent again are counted apart from the message that the recipient already has.
  await store.write(async (trx) => {
    for (const revision of [1, 2]) {
      const pack = createMessagePack()
      addToPack(pack, { ...MESSAGE, messageId: `<${revision}@example.com>` })
      await enqueueMessages(trx, { issueId: thursday, revision }, pack, MESSAGE.date)
    }
    await moveDelivery(trx, '<1@example.com>', ['pending'], { state: 'sent', at: MESSAGE.date })
  })
  await keep(store, 'Friday', {
    ...FRIDAY,
    timeZone: 'Europe/Berlin',
    text: 'Leads in the copy: 5,711',
    messages: { 'ana@example.com': 'sent' },
  })
  await keep(store, 'Friday in Germany', {
    ...FRIDAY,
    timeZone: 'Europe/Berlin',
    variant: '{"pipelineIds":["eu-mid"],"conditions":[{"field":"company_country","in":["Germany"]}]}',
    messages: { 'ana@example.com': 'unconfirmed', 'cem@example.com': 'pending' },
  })
  await keep(store, 'The week', {
    report: 'weekly',
    from: '2026-11-09',
    to: '2026-11-16',
    notSent: 'quiet',
  })
  // A notice belongs to no issue.
  for (const state of ['failed', 'unconfirmed', 'pending'] as const) {
    await store.write(async (trx) => {
      const messageId = `<notice-${state}>`
      await enqueueMessage(trx, null, { ...MESSAGE, messageId, to: 'ops@example.com' }, MESSAGE.date)
      if (state !== 'pending') await moveDelivery(trx, messageId, ['pending'], { state, at: MESSAGE.date })
    })
  }
  await keep(store, 'October', { report: 'monthly', from: '2026-10-01', to: '2026-11-01' })
  return store
}

const ALL: IssueChoice = { text: '', report: null, state: null, after: null }
/** Words, people, times, and what has a meaning in SQL. */
const TEXTS = [
  ...['', 'copy', '5,706', 'müll', 'MüLL', '"in the copy"', '"copy the in"', 'germany', 'eu-mid', 'unread'],
  ...['ben', 'Ben@Example.com', 'ana copy', 'cem copy'],
  ...['week', '2026-11-20', '2026-11-12', '2026-10', '2026-11 week', '2025', '2026'],
  ...['NOT (" OR * -', '100%', 'f_iday', 'z\0"y', '… – %_'],
]
const CHOICES: readonly Partial<IssueChoice>[] = [
  ...TEXTS.map((text) => ({ text })),
  ...ISSUE_STATES.map((state) => ({ state })),
  { report: 'daily', text: '2026-11-20', state: 'sent' },
  { report: 'weekly', state: 'sent' },
]

it('issues are found by what they say, to whom they went, of which time they are, and what became of them', async () => {
  await using store = await openKept()
  const lines: string[] = []
  for (const choice of CHOICES) {
    const found = await searchIssues(store.db, { ...ALL, ...choice }, 10)
    lines.push(`${JSON.stringify(choice)}: ${found.map(({ subject }) => subject).join(', ')}`)
  }
  for (const report of [null, 'weekly'])
    for (const issue of await listIssues(store.db, report, 10)) {
      const { messages, notSent, period } = issue
      lines.push(JSON.stringify([report, issue.report, period.from.slice(0, 10), messages, notSent]))
      lines.push(`  ${issueState(issue)}`)
    }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/found-issues.txt')
  expect(await listIssues(store.db, null, 1)).toHaveLength(1)
})

it('one page of issues follows the other, without a gap and without any twice', async () => {
  await using store = await openEmptyStore()
  const days = Array.from({ length: 7 }, (_, index) => `2026-11-${10 + index}`)
  for (const [index, from] of days.slice(0, -1).entries()) {
    for (const report of ['daily', 'eu', 'us']) {
      await keep(store, `${report} ${from}`, { report, from, to: days[index + 1] ?? '' })
    }
  }
  const all = await searchIssues(store.db, ALL, 100)
  expect(all).toHaveLength(18)
  const paged: string[] = []
  for (let after: string | null = null; ; ) {
    const page: { id: string }[] = await searchIssues(store.db, { ...ALL, after }, 4)
    if (page.length === 0) break
    paged.push(...page.map(({ id }) => id))
    after = page.at(-1)?.id ?? null
  }
  expect(paged).toEqual(all.map(({ id }) => id))
  expect(await searchIssues(store.db, { ...ALL, after: 'none such' }, 4)).toEqual([])
})

/** Texts to search for, of which the last is of more words than are looked for. */
const WORDS = ['  two  words ', '"a phrase" and "an open one', '· – "" "…"', 'half \ud800', 'x '.repeat(50)]
type Counts = Partial<typeof NO_MESSAGES>
/** The states of the messages of an issue, and of its copies. */
const SENT: readonly (readonly [Counts, Counts?])[] = [
  [{}],
  [{ sent: 12, total: 12 }],
  [{ sent: 5, failed: 1, unconfirmed: 1, withdrawn: 1, total: 10 }],
  [{ sent: 5, bounced: 3, complained: 1, total: 9 }],
  [
    { sent: 2, total: 2 },
    { sent: 1, total: 1 },
  ],
  [
    { sent: 2, failed: 1, total: 3 },
    { sent: 1, total: 2 },
  ],
]

it('the words of a search, the state of an issue and its variant are told', async () => {
  const conditions = [
    { field: 'company_country', in: ['Germany', 'Austria'] },
    { field: 'score', min: 60, max: null },
    { field: 'value_amount', min: 1, max: 5 },
  ]
  const lines = [
    ...WORDS.map((text) => `${JSON.stringify(text)}: ${JSON.stringify(wordsIn(text))}`),
    ...SENT.map(([messages, copies = {}]) => {
      const counts = { messages: { ...NO_MESSAGES, ...messages }, copies: { ...NO_MESSAGES, ...copies } }
      return `${JSON.stringify([messages, copies])}: ${issueState({ notSent: null, ...counts })}`
    }),
    issueState({ notSent: 'quiet', messages: NO_MESSAGES, copies: NO_MESSAGES }),
    ...['', JSON.stringify({ pipelineIds: ['eu', 'us'], conditions })].map(variantText),
  ]
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/words-of-issues.txt')
})
