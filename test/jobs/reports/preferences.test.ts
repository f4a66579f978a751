/**
 * The choices of recipients are followed: by due reports, by waiting messages, and in the views of others.
 */
import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { deliverDue, deliverIssues } from '../../../src/jobs/outbox/send-due.ts'
import { enqueuedText, enqueueReportNow } from '../../../src/jobs/reports/enqueue-report.ts'
import { changePreference } from '../../../src/jobs/reports/preferences.ts'
import { publishSnapshot } from '../../../src/jobs/snapshot/publish-snapshot.ts'
import { signLink } from '../../../src/mail/message.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import type { PreferenceChoice } from '../../../src/report/preferences/page.ts'
import { findPreference, readOrCreateLinkKey, savePreference } from '../../../src/store/reports/preference.ts'
import { publishing } from '../../support/data/publishing.ts'
import { folderWith } from '../../support/folder.ts'
import { AT_ONCE, DAILY, makeDue, openReporting, recipient } from '../../support/mail/reports.ts'
import { openMailServer } from '../../support/mail-server.ts'
import { SILENT } from '../../support/syncing.ts'

/** The first Monday with a report. The data ends on the day before. */
const MONDAY = '2026-11-23'
const SYNCED = new Date(`${MONDAY}T05:00:00Z`)
const DAY_MS = 86_400_000
const PEOPLE = ['ana', 'ben', 'cleo'].map((name) => recipient(`${name}@example.com`))
const NEVER = new AbortController().signal

/** Opens a report for three people that is due at 07:00 UTC from Monday on. */
async function openDaily() {
  const reporting = await openReporting(8, SYNCED)
  const { deps, store, clock } = reporting
  onTestFinished(store.close)
  return {
    ...reporting,
    /** @param day the day of the report; 0 is the Monday */
    async send(day: number) {
      clock.now = new Date(Date.parse(`${MONDAY}T07:00:00Z`) + day * DAY_MS)
      return enqueueReportNow(deps, DAILY, PEOPLE, clock.now, NEVER)
    },
    choice: (name: string, choice: PreferenceChoice) =>
      changePreference(
        store,
        { address: `${name}@example.com`, report: 'daily' },
        choice,
        { by: 'recipient', reason: null },
        clock.now,
      ),
  }
}

it('a report that is due goes to nobody who has paused or unsubscribed, and says who is left out', async () => {
  const daily = await openDaily()
  await daily.choice('ben', 'pause')
  await daily.choice('cleo', 'stop')
  const enqueued = await daily.send(0)
  expect(enqueued.leftOut).toEqual([
    { address: 'ben@example.com', why: 'paused by themselves on 2026-11-23' },
    { address: 'cleo@example.com', why: 'unsubscribed by themselves on 2026-11-23' },
  ])
  expect(enqueuedText(enqueued)).toMatch(/; left out: ben@example.com \(paused by .*\), cleo@example.com/)
  await daily.choice('ben', 'resume')
  await daily.send(1)
  const messages = await daily.store.db
    .selectFrom('delivery')
    .select('recipient')
    .orderBy('recipient')
    .execute()
  expect(messages.map(({ recipient: to }) => to[0])).toEqual(['a', 'a', 'b'])
})

it.each([
  ['has stopped', 1],
  ['has stopped while they were being written', 0],
])(
  'messages that wait never go out after their recipient %s, nor after a return',
  async (_, withdrawnAtOnce) => {
    const daily = await openDaily()
    const { enqueuedIssues } = await daily.send(0)
    if (withdrawnAtOnce > 0) expect((await daily.choice('ana', 'stop')).withdrawn).toBe(1)
    else {
      const stopped = { state: 'unsubscribed', changedBy: 'recipient', reason: null } as const
      const key = { address: 'ana@example.com', report: 'daily', changedAt: MONDAY }
      await daily.store.write((trx) => savePreference(trx, { ...key, ...stopped }))
    }
    await using server = await openMailServer()
    await using transport = openTransport(server.url, { log: SILENT })
    const deps = { ...daily.deps, transport, log: SILENT, policy: AT_ONCE }
    const issues = enqueuedIssues.map(({ issue }) => issue)
    const deliveries = await deliverIssues(deps, issues, NEVER)
    expect(deliveries.map(({ recipient: to, state }) => `${to} ${state}`)).toEqual([
      'ana@example.com withdrawn',
      'ben@example.com sent',
      'cleo@example.com sent',
    ])
    await daily.choice('ana', 'start')
    await deliverDue(deps, NEVER)
    expect(server.received.flatMap(({ to }) => to)).toEqual(['ben@example.com', 'cleo@example.com'])
  },
)

it('a choice that no longer fits changes nothing, nor who said what when', async () => {
  const daily = await openDaily()
  await daily.choice('ana', 'stop')
  const stopped = await findPreference(daily.store.db, { address: 'ana@example.com', report: 'daily' })
  daily.clock.now = new Date(SYNCED.getTime() + DAY_MS)
  for (const choice of ['pause', 'resume', 'stop'] as const) await daily.choice('ana', choice)
  const key = { address: 'ANA@example.com', report: 'daily' }
  expect(await findPreference(daily.store.db, key)).toEqual(stopped)
})

it('the snapshot that analysts get has neither the key of the links nor a link, nor who gets mail or has left, nor what the mail says', async () => {
  const daily = await openDaily()
  const key = await readOrCreateLinkKey(daily.store, SYNCED)
  const pageOf = (subject: { address: string; report: string }) =>
    `https://reports.example.com/preferences/${signLink(key, subject)}`
  const { sender } = daily.deps
  const deps = { ...daily.deps, sender: { ...sender, unsubscribe: { ...sender.unsubscribe, pageOf } } }
  await enqueueReportNow(deps, DAILY, PEOPLE, SYNCED, NEVER)
  await daily.choice('ben', 'stop')
  const token = signLink(key, { address: 'ana@example.com', report: 'daily' })
  const folder = folderWith()
  const publish = publishing(daily.store, folder)
  await publishSnapshot(publish, NEVER)
  const bytes = readFileSync(publish.file)
  const forms = (['hex', 'base64', 'base64url'] as const).map((form) => Buffer.from(key).toString(form))
  const { issue } = await makeDue(daily.deps)
  const text = issue.text.split('\n').find((line) => line.length > 60) ?? ''
  expect(text).not.toBe('')
  for (const secret of [Buffer.from(key), ...forms, token, text, 'ben@example.com', 'ana@example.com']) {
    expect(bytes.includes(secret)).toBe(false)
  }
})
