/** Harmful texts from other programs on the operators' pages that show them: they build what plain ones build. */
import { expect, it, onTestFinished } from 'vitest'
import { upsertAlerts } from '../../../src/store/alerts/alert.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { saveQuarantinedRecords } from '../../../src/store/leads/quarantined-record.ts'
import { moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { savePreference } from '../../../src/store/reports/preference.ts'
import { addScheduledRun } from '../../../src/store/schedule/scheduled-run.ts'
import { saveAgents, savePipelineStat } from '../../../src/store/sync/samples.ts'
import { event, receive } from '../../support/data/events.ts'
import { PAYLOADS } from '../../support/mail/payloads.ts'
import { casesOfToday } from '../../support/random.ts'
import { agent, lead, observedAt, openEmptyStore, save, saveWholeRun, stat } from '../../support/store.ts'
import { keepIssue } from '../../support/web/archive.ts'
import { READ_AT } from '../../support/web/counted-pages.ts'
import { ask, openDashboard } from '../../support/web/dashboard.ts'
import { openStatusPage } from '../../support/web/status-page.ts'
import { openAlert } from '../../support/web/store-with-problems.ts'

const BY_HAND = { readRegistration: async () => null, isByHand: true, canRegister: false } as const
/** The largest number of a kind that the status page shows. */
const AT_ONCE = 9

/**
 * Returns the tags in order, with the names of their attributes. Texts between backquotes are code, and `bdi` isolates
 * right-to-left texts: both depend on the text.
 */
function builtOf(html: string): string {
  const tags = [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replace(/="[^"]*"/g, ''))
  return tags.filter((tag) => !/^<\/?(?:bdi|code)>$/.test(tag)).join('\n')
}

const named = (payloads: readonly string[]) => payloads.map((payload) => `plain ${payload}`)
const plain = (count: number) => Array.from({ length: count }, (_, index) => `plain ${index}`)

/** Opens a store in which everything that other programs name has these names. */
async function openNamed(names: readonly string[]): Promise<Store> {
  const store = await openEmptyStore()
  onTestFinished(() => store.close())
  const observed = observedAt(READ_AT)
  await save(
    store,
    names.map((name, index) => lead(`${index}`, { pipelineId: `p${index}`, companyName: name })),
  )
  await store.write(async (trx) => {
    const agents = names.map((name, index) => ({
      ...agent(`a${index}`, 'failing'),
      name,
      kind: name,
      taskType: name,
      taskPipelineId: name,
      lastErrorMessage: name,
      lastErrorAt: READ_AT,
      statusChangedAt: READ_AT,
    }))
    await saveAgents(trx, agents, observed, { isWhole: true })
    for (const [index, name] of names.entries()) {
      await savePipelineStat(trx, { ...stat(`p${index}`, READ_AT, { new: 1 }), name, status: name }, observed)
      const dueAt = new Date(Date.parse(READ_AT) + index * 60_000).toISOString()
      const failed = { schedule: 'sync', due_at: dueAt, state: 'failed', message: name } as const
      await addScheduledRun(trx, { ...failed, noted_at: dueAt, not_before: null })
    }
    const record = { resource: 'lead', isWhole: true, raw: '{}' } as const
    const records = names.map((name) => ({ ...record, id: name, reason: name }))
    await saveQuarantinedRecords(trx, records, READ_AT)
    const alerts = names.map((name, index) =>
      openAlert({ id: index + 1, subject: name, message: name, hint: name }),
    )
    await upsertAlerts(trx, alerts)
  })
  const events = names.map((name) => event(name, { type: name, resourceId: name, problem: name }))
  await receive(store, events, READ_AT)
  await saveWholeRun(store, READ_AT)
  return store
}

const PARTS = Array.from({ length: Math.ceil(PAYLOADS.length / AT_ONCE) }, (_, part) =>
  PAYLOADS.slice(0, (part + 1) * AT_ONCE).slice(-AT_ONCE),
)

it.each([
  ['agents', '/agents', [PAYLOADS]],
  ['status', '/', casesOfToday(PARTS, 3)],
])('words of others on the page of %s build nothing', async (_, path, cases) => {
  const read = async (names: readonly string[]) => {
    const { url } = await openStatusPage({ store: await openNamed(names), events: BY_HAND })
    return builtOf((await ask(`${url}${path}`)).text)
  }
  const expected = await read(plain(cases[0]?.length ?? 0))
  expect(expected.length).toBeGreaterThan(1_000)
  for (const some of cases) expect([some, await read(named(some))]).toEqual([some, expected])
})

it('subjects, addresses, answers and reasons in the archive build nothing', async () => {
  const { store, url } = await openDashboard('')
  const ids: string[] = []
  for (const [number, subject] of named(PAYLOADS).entries()) {
    const variant = JSON.stringify({ pipelineIds: [subject], conditions: [] })
    const messageId = `<${number}@example.com>`
    const id = await keepIssue(store, { subject, variant }, { messageId, to: subject })
    ids.push(id)
    await store.write(async (trx) => {
      const failed = { state: 'failed', at: READ_AT, nextAttemptAt: null, response: subject } as const
      await moveDelivery(trx, messageId, ['pending'], failed)
      const paused = { address: subject, report: 'daily', state: 'paused', changedAt: READ_AT } as const
      await savePreference(trx, { ...paused, changedBy: 'operator', reason: subject })
    })
  }
  const list = (await ask(`${url}/archive`)).text.split('<tr').slice(2).map(builtOf)
  expect([list.length, new Set(list.slice(0, -1)).size]).toEqual([50, 1])
  const pages = new Set<string>()
  for (const id of ids.filter((_, number) => number % 6 === 3)) {
    const { text } = await ask(`${url}/archive/${id}`)
    pages.add(builtOf(text.slice(text.indexOf('id="messages"'))))
  }
  expect(pages.size).toBe(1)
})
