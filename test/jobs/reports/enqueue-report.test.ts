// @both-stores
/** The issues and messages of a due report, and the reports that are not worth a mail. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { LeadFilter } from '../../../src/domain/figures.ts'
import type { Message } from '../../../src/domain/message.ts'
import { LeadsheetError } from '../../../src/errors.ts'
import { enqueuedText, enqueueReport, enqueueReportNow } from '../../../src/jobs/reports/enqueue-report.ts'
import type { Report } from '../../../src/jobs/reports/report-definition.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { listDeliveries } from '../../../src/store/outbox/delivery.ts'
import { readMessage } from '../../../src/store/outbox/stored-message.ts'
import { folderWith } from '../../support/folder.ts'
import { DAILY, enqueueDue, makeDue, openReporting, recipient } from '../../support/mail/reports.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const EMEA: LeadFilter = { pipelineIds: ['pl_emea'], conditions: [] }
const DAY_MS = 86_400_000

/** Returns the messages of an issue by address. */
async function messagesOf(store: Store, { id }: { readonly id: string }): Promise<Map<string, Message>> {
  const messages = new Map<string, Message>()
  for (const { recipient: to, messageId } of await listDeliveries(store.db, id)) {
    messages.set(to, await readMessage(store.db, messageId))
  }
  return messages
}

describe('the recipients of a report', () => {
  it('share an issue where they are of the same leads, and each has a message with its numbers', async () => {
    await using world = await openReporting(8, NOW)
    const enqueuedIssues = await enqueueDue(world.deps, [
      recipient('ana@example.com'),
      recipient('ben@example.com', { filter: EMEA }),
      recipient('cleo@example.com', { filter: EMEA }),
    ])
    expect(enqueuedIssues.map(({ issue, notSent }) => [issue.variant, notSent])).toEqual([
      ['', null],
      [JSON.stringify(EMEA), null],
    ])
    const day = world.store.db
      .selectFrom('lead')
      .where('created_at', '>=', '2026-11-20T00:00:00.000Z')
      .where('created_at', '<', '2026-11-21T00:00:00.000Z')
      .select('id')
    const all = (await day.execute()).length
    const emea = (await day.where('pipeline_id', '=', 'pl_emea').execute()).length
    expect(all).toBeGreaterThan(emea)
    for (const [enqueued, addresses, count] of [
      [enqueuedIssues[0], ['ana@example.com'], all],
      [enqueuedIssues[1], ['ben@example.com', 'cleo@example.com'], emea],
    ] as const) {
      const messages = await messagesOf(world.store, enqueued?.issue ?? { id: '' })
      expect([...messages.keys()]).toEqual(addresses)
      for (const [to, { subject, text }] of messages) {
        expect(subject).toContain(`: ${count} new`)
        expect(text).toContain(to)
      }
    }
  })

  it('read it in their language, with their numbers, clock, blocks and files', async () => {
    await using world = await openReporting(20, NOW)
    const [enqueued] = await enqueueDue(world.deps, [
      recipient('ana@example.com'),
      recipient('dana@example.com', {
        locale: 'de-DE',
        timeZone: 'Asia/Tokyo',
        blocks: ['headline', 'freshness', 'kpis'],
        attachments: ['top_leads.csv', 'charts'],
      }),
    ])
    const messages = await messagesOf(world.store, enqueued?.issue ?? { id: '' })
    const [ana, dana] = ['ana', 'dana'].map((name) => messages.get(`${name}@example.com`))
    expect(ana).toMatchObject({ lang: 'en' })
    expect(ana?.text).toContain('FUNNEL')
    expect(ana?.text).toContain('Data of 06:00.')
    expect(dana).toMatchObject({ lang: 'de' })
    expect(dana?.html).toContain('<html lang="de-DE"')
    expect(dana?.text).toContain('15:00')
    expect(dana?.text).not.toContain('TRICHTER')
    const attached = dana?.files.filter(({ cid }) => cid === null)
    expect(attached?.map(({ name }) => name)).toEqual([
      'daily-top-leads-2026-11-20.csv',
      'daily-trend-2026-11-20.png',
    ])
    // A message brings only pictures that its blocks show.
    expect(dana?.files.every(({ cid }) => cid === null || dana.html.includes(`cid:${cid}`))).toBe(true)
  })

  it('who come later get the issue that the others got, who keep theirs', async () => {
    await using world = await openReporting(8, NOW)
    const [first] = await enqueueDue(world.deps, [recipient('ana@example.com')])
    const before = await messagesOf(world.store, first?.issue ?? { id: '' })
    world.clock.now = new Date(NOW.getTime() + 3_600_000)
    const [second] = await enqueueDue(world.deps, [
      recipient('ana@example.com'),
      recipient('ben@example.com'),
    ])
    expect(second?.issue.id).toBe(first?.issue.id)
    const after = await messagesOf(world.store, second?.issue ?? { id: '' })
    expect(after.get('ana@example.com')).toEqual(before.get('ana@example.com'))
    expect(after.get('ben@example.com')?.date).toBe(before.get('ana@example.com')?.date)
  })

  it('find it in the archive as it was mailed, also where that was lost, or a mail had no room for the files that it names', async () => {
    await using world = await openReporting(8, NOW)
    const wanted = { attachments: ['stalled.csv', 'pipelines.xlsx'] }
    const [enqueued] = await enqueueDue(world.deps, [recipient('ana@example.com', wanted)])
    const folder = join(enqueued?.page ?? '', '..')
    const contents = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))])
    const before = contents()
    expect(before).toHaveLength(3)
    await world.store.db.updateTable('lead').set({ company_name: 'renamed' }).execute()
    world.clock.now = new Date(NOW.getTime() + 3_600_000)
    rmSync(folder, { recursive: true })
    await enqueueDue({ ...world.deps, maxBytes: 500_000 }, [
      recipient('ana@example.com', wanted),
      recipient('ben@example.com', { ...wanted, blocks: ['kpis'] }),
    ])
    expect(contents()).toEqual(before)
    const ben = (await messagesOf(world.store, enqueued?.issue ?? { id: '' })).get('ben@example.com')
    expect(ben?.files.filter(({ cid }) => cid === null)).toEqual([])
    expect(ben?.text.match(/daily-\S+\.(csv|xlsx)/g)?.toSorted()).toEqual([
      'daily-pipelines-2026-11-20.xlsx',
      'daily-stalled-2026-11-20.csv',
    ])
  })

  it('have all of an issue or nothing of it, when another process has taken over meanwhile', async () => {
    await using world = await openReporting(8, NOW)
    const { signal } = new AbortController()
    const lease = { renew: () => Promise.reject(new LeadsheetError('job_busy', 'taken over')) }
    const both = [recipient('ana@example.com'), recipient('ben@example.com')]
    await expect(enqueueReport(world.deps, DAILY, both, { at: NOW, lease }, signal)).rejects.toMatchObject({
      code: 'job_busy',
    })
    for (const table of ['report_issue', 'delivery', 'message', 'message_file'] as const) {
      expect(await world.store.db.selectFrom(table).selectAll().execute()).toEqual([])
    }
    expect(existsSync(world.deps.archive)).toBe(false)
  })

  it('have their messages where the archive cannot be written, which follows when it can', async () => {
    await using world = await openReporting(8, NOW)
    const both = [recipient('ana@example.com'), recipient('ben@example.com', { filter: EMEA })]
    const looked = await makeDue(world.deps)
    world.clock.now = new Date(NOW.getTime() + 60_000)
    await world.store.db.updateTable('lead').set({ company_name: 'renamed' }).execute()
    const archive = join(folderWith({ file: '' }), 'file', 'archive')
    const { signal } = new AbortController()
    const deps = { ...world.deps, archive }
    expect(await enqueueReportNow(deps, DAILY, both, deps.now(), signal)).toMatchObject({
      enqueuedIssues: [{ page: null }, { page: null }],
      archiveFault: { code: 'data_unwritable' },
    })
    const messages = await world.store.db.selectFrom('delivery').select(['recipient', 'state']).execute()
    expect(messages.map(({ recipient: to, state }) => [to, state])).toEqual([
      ['ana@example.com', 'pending'],
      ['ben@example.com', 'pending'],
    ])
    const enqueuedIssues = await enqueueDue(world.deps, both)
    for (const { page } of enqueuedIssues) expect(readFileSync(page ?? '', 'utf8')).toContain('renamed')
    // The earlier page was of an issue that was only previewed.
    expect(enqueuedIssues[0]?.page).toBe(looked.page)
  })
})

const quiet: Report = { ...DAILY, sendWhen: { if_threshold: 'new_leads > 1000000' } }

it('a report that is sent only if it is worth it is kept with the reason, and has no messages, until the settings say so', async () => {
  await using world = await openReporting(8, NOW)
  const notSent = 'quiet: not new_leads > 1000000'
  const enqueuedIssues = await enqueueDue(world.deps, [recipient('ana@example.com')], quiet)
  expect(enqueuedIssues).toMatchObject([{ notSent }])
  const { issue } = enqueuedIssues[0] ?? { issue: { id: '', subject: '' } }
  expect(await listDeliveries(world.store.db, issue.id)).toEqual([])
  expect(enqueuedText({ enqueuedIssues, leftOut: [] })).toBe(`${issue.subject}: not sent: ${notSent}`)
  // A later preview makes the issue again, and it has still not been sent.
  expect((await makeDue(world.deps, quiet)).issue.notSent).toBe(notSent)
  expect(await enqueueDue(world.deps, [recipient('ana@example.com')])).toMatchObject([{ notSent: null }])
  expect((await makeDue(world.deps)).issue).toMatchObject({ notSent: null, isEnqueued: true })
})

it('a report since the last issue covers the days of those that were not sent too, to each audience', async () => {
  await using world = await openReporting(8, NOW)
  const since: Report = { ...DAILY, kind: 'since_last' }
  const both = [recipient('ana@example.com'), recipient('ben@example.com', { filter: EMEA })]
  const days = async (day: number, report: Report) => {
    world.clock.now = new Date(NOW.getTime() + day * DAY_MS)
    const enqueuedIssues = await enqueueDue(world.deps, both, report)
    return enqueuedIssues.map(({ issue: { period }, notSent }) => {
      const count = (Date.parse(period.to) - Date.parse(period.from)) / DAY_MS
      return notSent === null ? count : `${count} not sent`
    })
  }
  expect(await days(0, since)).toEqual([1, 1])
  // On the same day, it is the same issue.
  expect(await days(0, since)).toEqual([1, 1])
  expect(await days(1, { ...since, sendWhen: { if_threshold: 'leads > 100' } })).toEqual([1, '1 not sent'])
  expect(await days(2, since)).toEqual([1, 2])
  expect(await days(3, { ...since, sendWhen: { if_threshold: 'leads < 0' } })).toEqual(
    Array(2).fill('1 not sent'),
  )
  expect(await days(4, since)).toEqual([2, 2])
})
