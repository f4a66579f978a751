import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { daysUpTo } from '../../../src/domain/period.ts'
import { fileOf } from '../../../src/store/db/place.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { savePipelineStat } from '../../../src/store/sync/samples.ts'
import { composeAnalysts } from '../../../src/web/dashboard/pipelines/routes.ts'
import { publishRanges } from '../../support/reports/published-ranges.ts'
import { lead, openEmptyStore, save, saveWholeRun, seenAt, stat } from '../../support/store.ts'
import {
  countDays,
  countNow,
  openCountedPages,
  openDailyStore,
  READ_AT,
  readText,
  textOf,
  ZONE,
} from '../../support/web/counted-pages.ts'

const NOTHING = { overview: null, dataAsOf: null, isBeingCounted: false, failure: null }

/**
 * Opens a store. Pipeline p1 has 3 open leads, 1 of them stalled, and 2 won of 12 new ones. p2 has one old
 * lead.
 */
async function openFilledStore(): Promise<Store> {
  const store = await openEmptyStore()
  onTestFinished(() => store.close())
  const on = (day: string) => `2026-11-${day}T10:00:00.000Z`
  const change = (status: string, day: string) => ({
    status,
    statusChangedAt: on(day),
    updatedAt: on(day),
    createdAt: '2026-11-02T10:00:00.000Z',
    valueAmount: 500_000,
    valueCurrency: 'EUR',
  })
  await save(store, [
    ...['18', '19', '10'].map((day, index) => lead(`open${index}`, change('new', day))),
    ...['05', '19'].map((day, index) => lead(`won${index}`, change('won', day))),
    ...['05', '06', '07', '08', '09', '10', '11'].map((day, index) =>
      lead(`lost${index}`, change('lost', day)),
    ),
    lead('other', { ...change('won', '01'), pipelineId: 'p2', createdAt: '2026-01-01T00:00:00.000Z' }),
  ])
  await store.write(async (trx) => {
    const reached = { new: 12, contacted: 5, won: 2 }
    const told = { ...stat('p1', READ_AT, reached), leads: 13, open: 3, won: 2 }
    await savePipelineStat(trx, told, seenAt(READ_AT))
  })
  await saveWholeRun(store, READ_AT)
  return store
}

async function openFilledPages(): Promise<string> {
  const store = await openFilledStore()
  return openCountedPages(store, await countNow(store))
}

describe('the list of pipelines', () => {
  it('has the figures of each, and of all together', async () => {
    const text = await readText(`${await openFilledPages()}/pipelines`)
    expect(text).toContain('As of 10:00, 15 min ago')
    expect(text).toContain('Thu 22 Oct – Fri 20 Nov')
    expect(text).toContain('Pipeline p1 Active 12 3 €1.5m 1 12 2 17% 2 of 9')
    expect(text).toContain('p2 1 0 0 0 1 – 1 of 1')
    expect(text).toContain('All pipelines 13 3 €1.5m 1 12 3 25% 30%')
  })

  it('shows the new leads of each day as a line that says in words what it shows', async () => {
    const html = await (await fetch(`${await openFilledPages()}/pipelines`)).text()
    const [line] = /<svg class="spark".*?<\/svg>/s.exec(html) ?? []
    expect(line).toContain('role="img" aria-label="New leads a day: 0 to 12, on the last day 0"')
    expect(line).toMatch(/<path d="M1 [\d. L]+"\/>/)
  })

  it('says what each number means, and with which command its SQL is shown', async () => {
    const text = await readText(`${await openFilledPages()}/pipelines`)
    expect(text).toContain('Won leads that were won in the period and were still won at its end')
    expect(text).toContain('had not changed in any way for 7 days')
    expect(text).toContain('leadsheet figures won --from 2026-10-22 --to 2026-11-21')
  })

  it('says so where nothing has been read, is not counted yet, or cannot be', async () => {
    const store = await openEmptyStore()
    onTestFinished(() => store.close())
    const unread = await readText(`${await openCountedPages(store, NOTHING)}/pipelines`)
    expect(unread).toContain('No sync has read all leads yet.')
    const first = { ...NOTHING, dataAsOf: READ_AT, isBeingCounted: true }
    expect(await readText(`${await openCountedPages(store, first)}/pipelines`)).toContain(
      'The leads are being counted.',
    )
    const broken = { ...NOTHING, dataAsOf: READ_AT, failure: 'no such table: <lead>' }
    const told = await readText(`${await openCountedPages(store, broken)}/pipelines`)
    expect(told).toContain('This could not be counted: no such table: &lt;lead&gt;')
  })

  it('says of when its numbers are while newer ones are being counted', async () => {
    const store = await openFilledStore()
    const kept = await countNow(store)
    const behind = { ...kept, dataAsOf: '2026-11-21T09:14:00.000Z', isBeingCounted: true }
    const text = await readText(`${await openCountedPages(store, behind)}/pipelines`)
    expect(text).toContain('As of 10:00, 15 min ago')
    expect(text).toContain('What was read up to 10:14 is being counted.')
  })
})

describe('a pipeline', () => {
  it('has its trend as a picture with words, and as the numbers that it is drawn from', async () => {
    const html = await (await fetch(`${await openFilledPages()}/pipelines/p1`)).text()
    expect(html).toContain('aria-labelledby="trend-title trend-summary"')
    expect(textOf(html)).toContain(
      'From 23 August 2026 to 20 November 2026. New leads: 0 to 12 a day, at the end 0 a day, mean of 7 days. Won: 0 to 1 a day, at the end 0.1 a day, mean of 7 days.',
    )
    expect(textOf(html)).toContain('Mon, 2 Nov 2026 12 0')
    expect(html.match(/<tr><th scope="row">/g)?.length).toBeGreaterThanOrEqual(90)
    expect(html).not.toMatch(/NaN|Infinity|undefined/)
  })

  it('shows 30, 90 or 365 days, and 90 where something else is asked for', async () => {
    const url = `${await openFilledPages()}/pipelines/p1`
    expect(await readText(`${url}?days=30`)).toContain('From 22 October 2026')
    expect(await readText(`${url}?days=365`)).toContain('From 21 November 2025')
    for (const days of ['7', '1e9', '30&days=90', ''])
      expect(await readText(`${url}?days=${days}`)).toContain('From 23 August 2026')
  })

  it('has the funnel as the service counts it, with the share of the stage before and our days', async () => {
    const html = await (await fetch(`${await openFilledPages()}/pipelines/p1`)).text()
    expect(textOf(html)).toContain('New 12 – –')
    expect(textOf(html)).toContain('Contacted 5 42% –')
    expect(textOf(html)).toContain('Won 2 2 of 5 –')
    expect(html.match(/<rect class="part" width="(\d+)"/g)).toEqual(
      ['100', '42', '17'].map((width) => `<rect class="part" width="${width}"`),
    )
  })

  it('has our own funnel where the service has no statistics of it, or says of how few leads it were', async () => {
    const text = await readText(`${await openFilledPages()}/pipelines/p2`)
    expect(text).toMatch(
      /The service tells no statistics of this pipeline, and ours are known for \d+ of \d+ leads?\./,
    )
    expect(text).not.toContain('No statistics have been read from the service.')
  })

  it('sets the statistics of the service beside ours, and names the difference', async () => {
    const url = `${await openFilledPages()}/pipelines`
    const text = await readText(`${url}/p1`)
    expect(text).toContain('The service counts otherwise')
    expect(text).toContain('Leads 12 13 +1')
    expect(text).toContain('Open 3 3 none')
    expect(await readText(`${url}/p2`)).toContain('No statistics of this pipeline have been read.')
  })

  it('that there is not is not found', async () => {
    const answer = await fetch(`${await openFilledPages()}/pipelines/p3`)
    expect(answer.status).toBe(404)
    expect(textOf(await answer.text())).toContain('There is no such pipeline')
  })

  it('of any name and id is only text', async () => {
    const store = await openEmptyStore()
    onTestFinished(() => store.close())
    const id = 'a/b?c#"><script>alert(1)</script>'
    await save(store, [lead('1', { pipelineId: id })])
    await store.write((trx) => savePipelineStat(trx, stat(id, READ_AT, { new: 1 }), seenAt(READ_AT)))
    await saveWholeRun(store, READ_AT)
    const url = await openCountedPages(store, await countNow(store))
    const list = await (await fetch(`${url}/pipelines`)).text()
    expect(list).not.toContain('<script')
    const [, path = ''] = /<a href="(\/pipelines\/[^"]+)"/.exec(list) ?? []
    const page = await fetch(url + path)
    expect(page.status).toBe(200)
    const html = await page.text()
    expect(html).not.toContain('<script')
    expect(html).toContain(`/pipelines/${encodeURIComponent(id)}?days&#x3D;30`)
  })
})

describe('the goals and the outlook', () => {
  const goals = [
    { name: 'New in November', figure: 'new_leads', period: 'month', target: 400, pipelines: null },
    { name: 'New of p1', figure: 'new_leads', period: 'quarter', target: 100, pipelines: ['p1'] },
    { name: 'Sold', figure: 'won_value', period: 'month', target: 10_000, pipelines: ['p2'] },
  ] as const

  it('say what each goal has, where it will end and what is needed a day, as reports do', async () => {
    const store = await openDailyStore(400)
    await countDays(store)
    const set = goals.map((goal) => ({
      ...goal,
      owner: goal.name === 'Sold' ? 'Ana' : null,
      currency: goal.figure === 'won_value' ? 'EUR' : null,
    }))
    const url = await openCountedPages(store, await countNow(store), set)
    const all = await readText(`${url}/pipelines`)
    expect(all).toContain('Outlook counted up to 20 Nov')
    expect(all).toContain('New in November 192 of 400 about 282 by 30 Nov (265–299) 20.8 a day needed, 9 now')
    expect(all).toContain('New of p1 p1 241 of 100 the end on 31 Dec cannot be told yet reached')
    expect(all).toContain('Sold Ana · p2 €0 of €10k – €1k a day needed, €0 now')
    expect(all).toContain('Of 31 such ranges so far, 22 were right; 8 of 10 should be.')
    const published = { before: '2026-11-20', timeZone: ZONE }
    await publishRanges(store, published, { kind: 'month_end', figure: 'new_leads', hits: 7, of: 15 })
    const withheld = await readText(`${url}/pipelines`)
    expect(withheld).toContain('New in November 192 of 400 the end on 30 Nov cannot be told yet')
    const one = await readText(`${url}/pipelines/p1`)
    expect(one).toContain('New of p1')
    expect(one).not.toContain('New in November')
    expect(one).not.toContain('Sold')
    expect(one).toMatch(/New leads \d+ so far about \d+ by 30 Nov/)
  })

  it('are left out before any day is counted', async () => {
    expect(await readText(`${await openFilledPages()}/pipelines`)).not.toContain('Outlook')
  })
})

describe('usual win rates', () => {
  it('stand below the rates of the same 30 days', async () => {
    const store = await openEmptyStore()
    onTestFinished(() => store.close())
    const leads = daysUpTo(READ_AT, 300, ZONE).flatMap((day, index) =>
      ['won', 'lost', 'lost', 'lost'].map((status, each) => {
        const at = new Date(Date.parse(day.from) + 3_600_000).toISOString()
        const times = { createdAt: at, updatedAt: at, statusChangedAt: at }
        return lead(`${index} ${each}`, { pipelineId: each < 2 ? 'p1' : 'p2', status, ...times })
      }),
    )
    await save(store, leads)
    await saveWholeRun(store, READ_AT)
    await countDays(store)
    const url = await openCountedPages(store, await countNow(store))
    const all = await readText(`${url}/pipelines`)
    expect(all).toMatch(/ p1 .* 50% usual: 3\d–6\d% p2 .* 0% usual: 0% All pipelines .* 25% usual: 1\d–3\d% /)
    expect(await readText(`${url}/pipelines/p1`)).toMatch(/win rate, usual: 3\d–6\d% 50%/)

    const published = { before: '2026-11-20', timeZone: ZONE }
    await publishRanges(store, published, { kind: '30_days', figure: 'win_rate', hits: 9, of: 15 })
    expect(await readText(`${url}/pipelines`)).toMatch(/ p2 .* 0% usual: 0% All pipelines .* 25% 25% What/)

    // A lead more is won of the last day, which is not counted yet, so the range is of other leads.
    const late = { statusChangedAt: '2026-11-20T20:00:00.000Z', updatedAt: '2026-11-20T20:00:00.000Z' }
    await save(store, [lead('late', { pipelineId: 'p1', status: 'won', ...late })])
    const after = await openCountedPages(store, await countNow(store))
    expect(await readText(`${after}/pipelines/p1`)).toMatch(/win rate 51%/)
  })
})

describe('the way to single leads', () => {
  it('is a command that a shell takes as it stands', () => {
    const files = { snapshot: "/srv/it's here/snapshot.db", metadata: '/srv/metadata.json' }
    expect(composeAnalysts(files)).toEqual({
      file: files.snapshot,
      command: `datasette '/srv/it'\\''s here/snapshot.db' -m /srv/metadata.json`,
      madeAt: null,
    })
  })

  it('says where the copy will be while there is none', async () => {
    const store = await openFilledStore()
    const text = await readText(`${await openCountedPages(store, NOTHING)}/pipelines`)
    expect(text).toContain(`The copy will be ${join(fileOf(store), '../snapshot.db')}`)
  })
})
