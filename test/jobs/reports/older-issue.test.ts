// @both-stores
/** Issues whose figures an older leadsheet has stored in another format, such as without one of today's figures. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listFigureFiles, picturesOf, readKeptIssue } from '../../../src/jobs/reports/issue-page.ts'
import { contentsOf } from '../../../src/jobs/reports/report-content.ts'
import { enqueueResend, planResend } from '../../../src/jobs/reports/resend.ts'
import { readMessage } from '../../../src/store/outbox/stored-message.ts'
import { listLastFailed } from '../../../src/store/reports/issue.ts'
import { DAILY, enqueueDue, makeDue, openReporting, recipient } from '../../support/mail/reports.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const PEOPLE = [recipient('ana@example.com'), recipient('ben@example.com')]

/** A row of `report_issue`, as a leadsheet stored it that knew no value of open leads. */
const KEPT = JSON.parse(readFileSync(join(import.meta.dirname, 'issue-of-format-0.json'), 'utf8'))

it.each<[string, object]>([
  ['of an older format', {}],
  ['whose format is not known', { figures_format: null }],
  ['that has no figures at all', { figures: '{}', program_version: null }],
  ['whose figures are no JSON', { figures: 'damaged', figures_format: 1 }],
  ['whose figures are a list', { figures: '[]', figures_format: 1 }],
])('an issue %s is sent and shown as it is stored', async (_, change) => {
  await using reporting = await openReporting(8, NOW)
  const { deps, store, clock } = reporting
  const [enqueued] = await enqueueDue(deps, PEOPLE.slice(0, 1))
  const id = enqueued?.issue.id ?? ''
  const { html, text, subject, figures, program_version, figures_format } = KEPT
  const row = { html, text, subject, figures, program_version, figures_format, ...change }
  await store.write((trx) => trx.updateTable('report_issue').set(row).execute())

  await enqueueDue(deps, PEOPLE)
  await store.write((trx) =>
    trx.updateTable('delivery').set({ state: 'sent', next_attempt_at: null }).execute(),
  )
  await enqueueResend(deps, DAILY, await planResend(deps, DAILY, PEOPLE, { which: 'all' }, NOW), null)
  const deliveries = store.db.selectFrom('delivery').orderBy('recipient').orderBy('revision')
  const messages = await deliveries.selectAll().execute()
  expect(messages.map(({ recipient: to, revision }) => `${to[0]}${revision}`).join()).toBe('a0,a1,b0,b1')
  for (const { message_id: messageId } of messages.slice(1)) {
    const message = await readMessage(store.db, messageId)
    expect(message).toMatchObject({ subject, text, html: expect.stringContaining('Daily leads') })
    expect(message.html).not.toContain('cid:')
  }

  expect(Array.isArray(await listLastFailed(store.db, 'daily'))).toBe(true)
  const kept = await readKeptIssue(store.db, id, NOW)
  if (kept === null) throw new Error('the issue is gone')
  const { issue } = kept
  expect([await picturesOf(issue), listFigureFiles(issue)]).toEqual([[], []])
  expect((await contentsOf(deps, DAILY, issue)(DAILY, null)).text).toBe(text)
  clock.now = new Date('2026-11-22T06:00:00Z')
  expect((await makeDue(deps)).issue.programVersion).not.toBeNull()
})
