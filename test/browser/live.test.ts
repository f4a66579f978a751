/**
 * `leadsheet demo --live` with the status page open. A changed lead comes into the copy and onto the page by
 * its event alone, because nothing polls. The test prints how long that took.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { WireLead, WireLeadList } from '../../src/contract/lead.ts'
import { folderWith } from '../support/folder.ts'
import { startLeadsheet } from '../support/leadsheet.ts'
import { hasBrowser, openBrowser } from '../support/web/browser.ts'

const LOOK_MS = 10
/** The test uses the daemon's key, which allows twenty requests a second. */
const ASK_MS = 100
const PAGE_MS = 60_000

interface Where {
  readonly dashboard: string
  readonly service: string
  readonly database: string
}

/** A line of the demo's output. */
interface PrintedChange {
  readonly lead: string
  readonly to: string | null
  readonly seconds: number
}

describe.skipIf(!hasBrowser)('demo --live', () => {
  it('has a lead that changes at the service in the copy and on the page by its event', async () => {
    const { where, key, printed } = await startDemo()
    const copy = new Database(where.database, { readonly: true })
    onTestFinished(() => void copy.close())
    const finishedSyncs = copy.prepare('SELECT id FROM sync_run WHERE finished_at IS NOT NULL')
    // The first sync came before the daemon, and the second is the daemon's first.
    while (finishedSyncs.all().length < 2) await delay(LOOK_MS)
    await using browser = await openBrowser()
    const page = await browser.newPage()
    await page.goto(where.dashboard)

    const lead = await nextMove(where.service, key)
    const changedAt = performance.now()
    const find = copy.prepare<[string, string], { run_id: string }>(
      'SELECT run_id FROM lead_version WHERE lead_id = ? AND status_changed_at = ?',
    )
    while (find.get(lead.id, lead.status_changed_at) === undefined) await delay(LOOK_MS)
    const copiedMs = performance.now() - changedAt
    const row = page
      .locator('#last-events tr')
      .filter({ hasText: lead.company.name })
      .filter({ hasText: `→ ${lead.status}` })
    await row.first().waitFor({ state: 'attached', timeout: PAGE_MS })
    const shownMs = performance.now() - changedAt

    expect(find.get(lead.id, lead.status_changed_at)?.run_id).toMatch(/^event:/)
    expect(copy.prepare('SELECT count(*) FROM sync_run').pluck().get()).toBe(2)
    const line = async (): Promise<PrintedChange> =>
      printed.find((each) => each.lead === lead.id && each.to === lead.status) ?? delay(LOOK_MS).then(line)
    const { seconds } = await line()
    const figures = [seconds * 1000, copiedMs, shownMs].map((ms) => `${ms.toFixed(0)} ms`)
    // biome-ignore lint/suspicious/noConsole: how long it took depends on the machine, and is to be seen
    console.log(
      `demo --live: told as ${figures[0]}; seen in the copy after ${figures[1]}, on the page after ${figures[2]}`,
    )
  })
})

async function startDemo(): Promise<{ where: Where; key: string; printed: readonly PrintedChange[] }> {
  const cwd = folderWith()
  const demo = startLeadsheet(['demo', '--live', '--json'], { cwd })
  const printed: PrintedChange[] = []
  const { promise, resolve, reject } = Promise.withResolvers<Where>()
  if (demo.stdout === null || demo.stderr === null) throw new Error('the demonstration has no output')
  let complaints = ''
  demo.stderr.on('data', (chunk) => {
    complaints += chunk
  })
  const lines = createInterface({ input: demo.stdout })
  lines.on('line', (line) => {
    const said = JSON.parse(line).data
    if ('dashboard' in said) resolve(said)
    else printed.push(said)
  })
  lines.on('close', () => reject(new Error(`the demonstration has ended: ${complaints}`)))
  const where = await promise
  const key = readFileSync(join(cwd, 'data/demo/live/api-key'), 'utf8').trim()
  return { where, key, printed }
}

/** Finds a lead whose status changes from now on, as soon as the service lists it. */
async function nextMove(service: string, key: string): Promise<WireLead> {
  const list = async (): Promise<readonly WireLead[]> => {
    const answer = await fetch(`${service}/leads?sort=-updated_at&limit=20`, {
      headers: { authorization: `Bearer ${key}` },
    })
    return ((await answer.json()) as WireLeadList).data
  }
  const before = (await list())[0]?.updated_at ?? ''
  const hasMoved = (lead: WireLead) => lead.status_changed_at > before && lead.status !== 'discovered'
  for (;;) {
    const lead = (await list()).find(hasMoved)
    if (lead !== undefined) return lead
    await delay(ASK_MS)
  }
}
