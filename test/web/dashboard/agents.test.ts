import { describe, expect, it, onTestFinished } from 'vitest'
import type { Agent } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { saveAgents } from '../../../src/store/sync/samples.ts'
import { agent, observedAt, openEmptyStore, saveWholeRun } from '../../support/store.ts'
import { hasBrowser, openBrowser } from '../../support/web/browser.ts'
import { openCountedPages, readText, textOf } from '../../support/web/counted-pages.ts'

async function openStore(readings: Readonly<Record<string, readonly Agent[]>> = {}): Promise<Store> {
  const store = await openEmptyStore()
  onTestFinished(() => store.close())
  for (const [at, agents] of Object.entries(readings)) {
    await store.write((trx) => saveAgents(trx, agents, observedAt(at), { isWhole: true }))
  }
  await saveWholeRun(store, '2026-11-21T09:00:00.000Z')
  return store
}

async function readAgents(store: Store): Promise<string> {
  return readText(`${await openCountedPages(store)}/agents`)
}

describe('the page of agents', () => {
  it('begins with those that fail, says since when and why, and what the others do', async () => {
    const failing = {
      ...agent('b', 'failing'),
      statusChangedAt: '2026-11-21T08:30:00.000Z',
      errors24h: 14,
      tasks24h: 3,
      lastErrorMessage: 'quota used up',
      lastErrorAt: '2026-11-21T08:59:00.000Z',
    }
    const busy = {
      ...agent('a', 'running'),
      kind: 'enrichment',
      taskType: 'read_site',
      taskPipelineId: 'p1',
      taskProgress: 0.5,
      lastErrorMessage: 'of long ago',
      lastErrorAt: '2026-11-01T08:59:00.000Z',
    }
    const text = await readAgents(
      await openStore({ '2026-11-21T09:00:00.000Z': [busy, failing, agent('c', 'paused')] }),
    )
    expect(text).toContain('1 of 3 agents is well, 1 is failing, as read 10:00, 15 min ago.')
    expect(text).toContain('Agent b Failing since 09:30 quota used up (09:59) 3 14')
    expect(text).toContain('Agent a Enrichment Running Read site for p1 (50% done)')
    expect(text).not.toContain('of long ago')
    expect(['Agent b', 'Agent c', 'Agent a'].map((name) => text.indexOf(name))).toEqual(
      ['Agent b', 'Agent c', 'Agent a'].map((name) => text.indexOf(name)).toSorted((a, b) => a - b),
    )
  })

  it('tells the outages of the last 30 days, the newest first', async () => {
    const at = (clock: string) => `2026-11-20T${clock}:00.000Z`
    const reading = (status: string) => [agent('a', status), agent('b', 'idle')]
    const text = await readAgents(
      await openStore({
        [at('06:00')]: reading('running'),
        [at('07:00')]: reading('failing'),
        [at('08:00')]: reading('running'),
        [at('09:00')]: reading('running'),
        [at('10:00')]: reading('down'),
      }),
    )
    expect(text).toContain(
      'Agent a Fri 20 Nov, 11:00 lasts 0 min Agent a Fri 20 Nov, 08:00 Fri 20 Nov, 09:00 60 min',
    )
  })

  it('keeps agents that went away in sight, for 30 days', async () => {
    const both = [agent('a', 'running'), agent('b', 'running')]
    const gone = await openStore({
      '2026-11-20T09:00:00.000Z': both,
      '2026-11-20T10:00:00.000Z': [agent('a', 'running')],
    })
    expect(await readAgents(gone)).toContain('Agent b Deleted since Fri 20 Nov, 11:00')
    expect(await readAgents(gone)).toContain('The one agent is well')
    const longAgo = await openStore({
      '2026-10-01T09:00:00.000Z': both,
      '2026-10-01T10:00:00.000Z': [agent('a', 'running')],
    })
    expect(await readAgents(longAgo)).not.toContain('Agent b')
  })

  it('says so where no agents have been read, and where none has failed', async () => {
    expect(await readAgents(await openStore())).toContain('No agents have been read yet.')
    const text = await readAgents(await openStore({ '2026-11-20T09:00:00.000Z': [agent('a', 'idle')] }))
    expect(text).toContain('No reading since Thu 22 Oct, 00:00 has found an agent failing.')
  })

  it.skipIf(!hasBrowser)(
    'has a dozen agents on two screens of a phone or so, and does not scroll sideways',
    async () => {
      const dozen = Array.from({ length: 12 }, (_, index) => ({
        ...agent(`agent-${index}`, index === 0 ? 'failing' : 'idle'),
        kind: 'enrichment',
        taskType: 'enrich',
        statusChangedAt: '2026-11-20T08:30:00.000Z',
        lastSeenAt: '2026-11-20T08:59:00.000Z',
        tasks24h: 1_234,
      }))
      const store = await openStore({ '2026-11-19T09:00:00.000Z': dozen, '2026-11-20T09:00:00.000Z': dozen })
      const browser = await openBrowser()
      onTestFinished(() => browser.close())
      const page = await browser.newPage({ viewport: { width: 375, height: 800 } })
      await page.goto(`${await openCountedPages(store)}/agents`)
      const table: number = await page.evaluate('document.querySelector("table.agents").offsetHeight')
      expect(table).toBeLessThan(12 * 160)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
    },
  )

  it('shows names and errors of any kind as text', async () => {
    const name = '<img src=x onerror=alert(1)>\u202e'
    const hostile = { ...agent('a', 'failing'), name, kind: name, lastErrorMessage: name, taskType: name }
    const store = await openStore({ '2026-11-20T09:00:00.000Z': [hostile] })
    const html = await (await fetch(`${await openCountedPages(store)}/agents`)).text()
    expect(html).not.toContain('<img')
    expect(html).not.toContain('\u202e')
    expect(textOf(html)).toContain('&lt;img src=x')
  })
})
