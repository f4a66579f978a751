/** Harmful texts from other programs on the operators' pages that show them. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { upsertAlerts } from '../../../src/store/alerts/alert.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { saveQuarantinedRecords } from '../../../src/store/leads/quarantined-record.ts'
import { addScheduledRun } from '../../../src/store/schedule/scheduled-run.ts'
import { saveAgents, savePipelineStat } from '../../../src/store/sync/samples.ts'
import { event, receive } from '../../support/data/events.ts'
import { PAYLOADS } from '../../support/mail/payloads.ts'
import { agent, lead, observedAt, openEmptyStore, save, saveWholeRun, stat } from '../../support/store.ts'
import { hasBrowser, openBrowser } from '../../support/web/browser.ts'
import { openCountedPages, READ_AT } from '../../support/web/counted-pages.ts'
import { openStatusPage } from '../../support/web/status-page.ts'

const BY_HAND = { readRegistration: async () => null, isByHand: true, canRegister: false } as const
/** The largest number of a kind that the status page shows. */
const AT_ONCE = 9
/**
 * The elements in order, with the names of their attributes. Texts between backquotes are code and are left
 * out, as is `bdi`, which isolates right-to-left texts.
 */
const BUILT = `[...document.querySelectorAll('body *:not(code, bdi)')].map(({ tagName, attributes }) =>
  [tagName, ...[...attributes].map(({ name }) => name)].join(' ')).join('\\n')`

/** Opens a store in which everything that other programs name has these names. */
async function openNamed(names: readonly string[]): Promise<Store> {
  const store = await openEmptyStore()
  onTestFinished(() => store.close())
  const observed = observedAt(READ_AT)
  const at = { firstSeenAt: READ_AT, openedAt: READ_AT, reopenedAt: null, resolvedAt: null }
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
      const scheduledRunOf = { schedule: 'sync', due_at: dueAt, state: 'failed', message: name } as const
      await addScheduledRun(trx, { ...scheduledRunOf, noted_at: dueAt, not_before: null })
    }
    const record = { resource: 'lead', isWhole: true, raw: '{}' } as const
    await saveQuarantinedRecords(
      trx,
      names.map((name) => ({ ...record, id: name, reason: name })),
      READ_AT,
    )
    const told = {
      state: 'open',
      seen: 3,
      announced: 'open',
      announcedAt: READ_AT,
      acknowledgedAt: null,
    } as const
    await upsertAlerts(
      trx,
      names.map((name, index) => ({
        ...at,
        ...told,
        id: index + 1,
        checkId: 'sync_failing',
        subject: name,
        message: name,
        hint: name,
      })),
    )
  })
  const events = names.map((name) => event(name, { type: name, resourceId: name, problem: name }))
  await receive(store, events, READ_AT)
  await saveWholeRun(store, READ_AT)
  return store
}

describe.skipIf(!hasBrowser)('words of others, on the page', () => {
  let browser: Browser
  let page: Page
  const arrived: string[] = []
  beforeAll(async () => {
    browser = await openBrowser()
    page = await browser.newPage()
    page.on('dialog', (dialog) => {
      arrived.push(`dialog: ${dialog.message()}`)
      return dialog.dismiss()
    })
    page.on('pageerror', ({ message }) => arrived.push(`error: ${message}`))
    page.on('request', (request) => {
      if (!request.url().startsWith('http://127.0.0.1:')) arrived.push(request.url())
    })
  })
  afterAll(() => browser?.close())

  const builtOf = async (names: readonly string[]): Promise<string> => {
    await page.goto(`${await openCountedPages(await openNamed(names))}/agents`)
    return page.evaluate(BUILT)
  }

  it('of agents, build and run nothing', async () => {
    const plain = await builtOf(PAYLOADS.map((_, index) => `plain ${index}`))
    const hostile = await builtOf(PAYLOADS.map((payload) => `plain ${payload}`))
    expect(plain.length).toBeGreaterThan(1_000)
    expect(hostile).toEqual(plain)
    expect(arrived).toEqual([])
  })

  it('of status, build and run nothing', async () => {
    const read = async (names: readonly string[]): Promise<string> => {
      await page.goto((await openStatusPage({ store: await openNamed(names), events: BY_HAND })).url)
      return page.evaluate(BUILT)
    }
    const plain = await read(Array.from({ length: AT_ONCE }, (_, index) => `plain ${index}`))
    expect(plain.length).toBeGreaterThan(1_000)
    for (let end = AT_ONCE; end < PAYLOADS.length + AT_ONCE; end += AT_ONCE) {
      const some = PAYLOADS.slice(0, end).slice(-AT_ONCE)
      expect([some, await read(some.map((payload) => `plain ${payload}`))]).toEqual([some, plain])
    }
    expect(arrived).toEqual([])
  })
})
