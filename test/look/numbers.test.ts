/**
 * Every number of the demo's mails is the same in the subject, the page and the text, and equals the result
 * of sqlite3 for the printed SQL. The test formats numbers by its own rules.
 */
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { daysUpTo } from '../../src/domain/period.ts'
import { hasSqlite3 } from '../support/data/sqlite3.ts'
import { wordsOf } from '../support/report.ts'
import { explainReport } from '../support/reports/explain-report.ts'
import type { MailPage } from './pages.ts'
import { DEMO_MS, type Demo, openDemo } from './support/demo.ts'

const NUMBER = /[−+>]?[$€]?\d(?:[\d.,:]*\d)?(?:\s?(?:%|pt|Pkt\.|Mio\.|[$€](?!\d))|[km](?!\p{L}))?/gu
/** The key of the words before the first title. */
const HEAD = ''
/** The numbers of rows shown of a list of leads, and of the sources. */
const SHOWN = 3
const SOURCES_SHOWN = 5
const DAY_MS = 24 * 60 * 60_000

/**
 * Returns each number of a text once, in order. Addresses are left out, because a page does not show them.
 */
function numbersIn(text: string): readonly string[] {
  return [...new Set(text.replace(/(?:mailto|https?):\S+/g, '').match(NUMBER))]
    .map((number) => number.replace(/\s/g, ' '))
    .sort()
}

/** Returns the words of a page below each of its titles, with those that stand for its pictures. */
function sectionsOfPage({ rendered: { html } }: MailPage): ReadonlyMap<string, string> {
  const worded = html.replace(/<img[^>]* alt="([^"]*)"[^>]*>/g, ' $1 ')
  const [head = '', ...rest] = worded.split(/<h2[^>]*>(.*?)<\/h2>/s)
  const sections = new Map([[HEAD, wordsOf(head)]])
  for (let at = 0; at < rest.length; at += 2) {
    sections.set(wordsOf(rest[at] ?? '').toUpperCase(), wordsOf(rest[at + 1] ?? ''))
  }
  return sections
}

/** Returns the text below each of these titles. */
function sectionsOfText(
  { rendered: { text } }: MailPage,
  titles: Iterable<string>,
): ReadonlyMap<string, string> {
  const known = new Set(titles)
  const sections = new Map<string, string>()
  let title = HEAD
  for (const line of text.split('\n')) {
    const heading = line.replace(/\u00a0/g, ' ')
    if (heading !== HEAD && known.has(heading)) title = heading
    else sections.set(title, `${sections.get(title) ?? ''}${line}\n`)
  }
  return sections
}

describe('the numbers of a mail', () => {
  let demo: Demo
  let mails: readonly [MailPage, ...MailPage[]]
  beforeAll(async () => {
    demo = await openDemo()
    mails = [
      await demo.daily.pageFor('daily, English'),
      await demo.daily.pageFor('daily, German', { locale: 'de-DE' }),
      await demo.weekly.pageFor('weekly, English'),
      await demo.weekly.pageFor('weekly, German', { locale: 'de-DE' }),
    ]
  }, DEMO_MS)
  afterAll(() => demo?.[Symbol.asyncDispose]())

  it('are the same in its page and its text, below every title', () => {
    for (const mail of mails) {
      const page = sectionsOfPage(mail)
      const text = sectionsOfText(mail, page.keys())
      expect([...text.keys()], mail.name).toEqual([...page.keys()])
      expect(page.size, mail.name).toBeGreaterThan(5)
      for (const [title, words] of page) {
        expect(numbersIn(text.get(title) ?? ''), `${mail.name}: ${title}`).toEqual(numbersIn(words))
      }
    }
  })

  it('are those of its subject too', () => {
    for (const { name, rendered } of mails) {
      const numbers = numbersIn(rendered.subject)
      expect(numbers.length, name).toBeGreaterThan(0)
      expect(numbersIn(rendered.text), name).toEqual(expect.arrayContaining([...numbers]))
    }
  })

  describe('are what sqlite3 counts', { skip: !hasSqlite3 }, () => {
    type Row = Readonly<Record<string, string | number | null>>
    let answers: ReadonlyMap<string, { readonly now: readonly Row[]; readonly before: readonly Row[] }>
    let text: string
    beforeAll(() => {
      const { report, figures } = demo.daily
      const { kind, period } = figures
      const request = {
        kind,
        period,
        prior: figures.prior,
        filter: figures.filter,
        since: null,
        stalledDays: report.stalledDays,
        topScore: report.topScore,
        rowsMax: SHOWN,
        trendDays: daysUpTo(period.to, 96, period.timeZone),
      }
      const ask = (sql: string | null): readonly Row[] => {
        if (sql === null) return []
        const answer = execFileSync('sqlite3', ['-readonly', '-json', demo.file, sql], { encoding: 'utf8' })
        return answer === '' ? [] : JSON.parse(answer)
      }
      answers = new Map(
        explainReport(request, figures).map(({ block, title, sql, priorSql }) => [
          `${block}: ${title}`,
          { now: ask(sql), before: ask(priorSql) },
        ]),
      )
      text = mails[0].rendered.text.replace(/[\u00a0\u202f]/g, ' ')
    })

    const now = (name: string) => answers.get(name)?.now ?? []
    const earlier = (name: string) => answers.get(name)?.before ?? []
    const one = (rows: readonly Row[], column = 'value') => Number(rows[0]?.[column] ?? 0)
    const said = (words: string) => expect(text.replace(/\s+/g, ' ')).toContain(words)

    it('in the verdict and the four numbers', () => {
      const [leads, won] = [one(now('kpis: New leads')), one(now('kpis: Won'))]
      expect(leads * won).toBeGreaterThan(0)
      said(`: ${leads} new leads (normal `)
      said(` ${won} won, ${money(one(now('kpis: Won value')))}.`)
      said(`New ${leads} normal `)
      said(`Won ${won} normal `)
      const [rate, rateBefore] = [now('kpis: Win rate'), earlier('kpis: Win rate')]
      // The difference of the rates as printed, because readers subtract what they see.
      const points = (Math.round(1000 * one(rate)) - Math.round(1000 * one(rateBefore))) / 10
      said(`Win rate, 30 d ${percent(one(rate))} ${signed(points)} pt`)
      said(`Open ≈ ${money(one(now('kpis: Open pipeline')))} `)
    })

    it('in the trend', () => {
      const week = now('trend: Trend').slice(-7)
      const mean = week.reduce((sum, day) => sum + Number(day['newLeads']), 0) / 7
      expect(mean).toBeGreaterThan(0)
      said(`In the 7 days up to 23 Nov: ${short(mean)} new leads a day.`)
    })

    it('in the funnel', () => {
      const stages = now('funnel: Funnel')
      expect(stages.length).toBeGreaterThan(5)
      for (const { status, reached } of stages) said(`${capital(status)} ${count(Number(reached))} `)
    })

    it('of changes, with the first of them', () => {
      const titles = { won: 'Won', lost: 'Lost or disqualified' }
      for (const [kind, title] of Object.entries(titles)) {
        const rows = now('changes: Changes').filter((row) => row['kind'] === kind)
        const total = rows.reduce((sum, row) => sum + Number(row['total']), 0)
        const amount = rows.reduce((sum, row) => sum + Number(row['amount']), 0)
        expect(total).toBeGreaterThan(0)
        said(`${title}: ${count(total)} · ${money(amount)} - `)
        const named = now('changes: Changed leads').filter((row) => row['kind'] === kind)
        for (const lead of named.slice(0, SHOWN)) {
          said(`- ${lead['companyName']}, ${money(Number(lead['amount']))}`)
        }
        if (total > SHOWN) said(`and ${count(total - SHOWN)} more`)
      }
    })

    it('of top and stalled leads', () => {
      const top = now('top_leads: Top leads')
      expect(top).toHaveLength(SHOWN)
      for (const lead of top) said(`- ${lead['score']} ${lead['companyName']}, ${lead['contactName']} `)
      const stalled = now('stalled: Stalled leads')
      expect(stalled).toHaveLength(SHOWN)
      for (const lead of stalled) {
        const idleMs = Date.parse(demo.daily.figures.period.to) - Date.parse(`${lead['changedAt']}`)
        said(`- ${Math.floor(idleMs / DAY_MS)} days ${lead['companyName']}, ${capital(lead['status'])} `)
      }
      said(`${one(now('stalled: Stalled'))} LEADS NOT MOVED FOR 14 DAYS`)
      said(`and ${one(now('stalled: Stalled')) - SHOWN} more`)
    })

    it('of each pipeline', () => {
      const lines = now('pipelines: By pipeline')
      expect(lines).toHaveLength(4)
      for (const line of lines) {
        const open = now('pipelines: Leads and open pipeline by pipeline').filter(
          (row) => row['of'] === line['of'],
        )
        const amount = open.reduce((sum, row) => sum + Number(row['amount']), 0)
        said(`${tally(line)} ${money(amount)} open`)
      }
    })

    it('of each source that is named', () => {
      const lines = now('sources: By source')
      const named = lines.filter((line) => text.includes(`\n${capital(line['of'])} `))
      expect(named).toHaveLength(SOURCES_SHOWN)
      for (const line of named) said(`${capital(line['of'])} ${tally(line)}`)
      said(`and ${lines.length - SOURCES_SHOWN} more`)
    })

    it('of the agents', () => {
      const agents = now('agents: Agents')
      const running = agents.filter(({ status }) => status === 'running').length
      expect(running).toBeGreaterThan(0)
      said(`${agents.length} of ${agents.length} healthy: `)
      said(` ${running} running`)
    })

    /** `20 5 6.9%` */
    function tally(line: Row): string {
      const rate = percent(Number(line['part']) / Number(line['whole']))
      return `${line['newLeads']} ${line['won']} ${rate}`
    }
  })
})

const count = (value: number) => value.toLocaleString('en-GB')
const percent = (rate: number) => `${(100 * rate).toFixed(1)}%`
const signed = (value: number, write = count) => (value < 0 ? `−${write(-value)}` : `+${write(value)}`)
const capital = (name: unknown) => `${name}`.charAt(0).toUpperCase() + `${name}`.slice(1)
/** `0`, `1.3`, `26` */
const short = (mean: number) => (mean === 0 ? '0' : mean.toFixed(mean < 10 ? 1 : 0))

/** `$8.5k`, `$9k`, `$69.5k`, `$623k`, `$3.6m` */
function money(amount: number): string {
  if (amount >= 1e6) return `$${(amount / 1e6).toFixed(1)}m`
  const thousands = amount / 1e3
  return `$${thousands < 100 ? Math.round(10 * thousands) / 10 : Math.round(thousands)}k`
}
