/** The dashboard's archive, over issues that were really made and mailed. */
import { describe, expect, it } from 'vitest'
import { periodBetween } from '../../../src/domain/period.ts'
import { enqueueResend, planResend } from '../../../src/jobs/reports/resend.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { saveMailOutage } from '../../../src/store/outbox/send-limits.ts'
import { readMessage } from '../../../src/store/outbox/stored-message.ts'
import { saveIssue } from '../../../src/store/reports/issue.ts'
import { savePreference } from '../../../src/store/reports/preference.ts'
import { dispositionOf } from '../../../src/web/server/headers.ts'
import { enqueueDue, makeDue } from '../../support/mail/reports.ts'
import { busyDay } from '../../support/reports/figures.ts'
import { openArchive, PEOPLE, REPORT } from '../../support/web/archive.ts'
import { AS_BROWSER, ask, NOW, openDashboard, signIn, TOKEN } from '../../support/web/dashboard.ts'

const AS_OPERATOR = { ...AS_BROWSER, authorization: `Bearer ${TOKEN}` }

const get = (url: string, path: string) => ask(`${url}${path}`, { headers: AS_OPERATOR })

/** Returns the bytes of a file as a download. */
async function save(url: string, path: string) {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })
  return { response, content: Buffer.from(await response.arrayBuffer()) }
}

/** Returns the visible text of a page on one line. */
const wordsOf = (html: string) =>
  html
    .replace(/<(script|style)[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

const linksIn = (html: string) =>
  [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) =>
    href.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&'),
  )

/** Returns the path of the page of the issue for all leads. */
async function pathOf(store: Store, variant = ''): Promise<string> {
  const { id } = await store.db
    .selectFrom('report_issue')
    .where('variant', '=', variant)
    .select('id')
    .executeTakeFirstOrThrow()
  return `/archive/${id}`
}

const messageTo = (store: Store, recipient: string) =>
  store.db.selectFrom('delivery').where('recipient', '=', recipient).selectAll().executeTakeFirstOrThrow()

const bare = (messageId: string) => messageId.slice(1, -1)

describe('the list of the archive', () => {
  /** Saves issues of so many days up to the end of 2025, each with its number. */
  async function keepDays(store: Store, count: number) {
    for (let number = 1; number <= count; number++) {
      const from = new Date(Date.UTC(2025, 11, 31 - number)).toISOString().slice(0, 10)
      const to = new Date(Date.UTC(2025, 11, 32 - number)).toISOString().slice(0, 10)
      await store.write((trx) =>
        saveIssue(trx, {
          report: number % 2 === 0 ? 'daily' : 'sales & more',
          variant: '',
          programVersion: '1.2.3',
          period: periodBetween(from, to, 'UTC'),
          renderedAt: `${to}T07:00:00.000Z`,
          subject: `Issue ${number}`,
          html: '',
          text: `text of ${number}`,
          figures: busyDay(),
        }),
      )
    }
  }
  const subjectsIn = (html: string) => [...html.matchAll(/>(Issue \d+)</g)].map(([, subject]) => subject)

  it('says so where there is nothing yet', async () => {
    const { url } = await openDashboard()
    const page = await get(url, '/archive')
    expect(page.status).toBe(200)
    expect(wordsOf(page.text)).toContain(
      'No report has been made yet. The first one comes at its next scheduled run.',
    )
  })

  it('leads from page to page, with all that was asked for', async () => {
    const { url, store } = await openDashboard()
    await keepDays(store, 120)
    const first = await get(url, '/archive?report=daily')
    expect(wordsOf(first.text)).toContain('120 issues, the newest first')
    expect(subjectsIn(first.text)).toEqual(Array.from({ length: 50 }, (_, index) => `Issue ${2 * index + 2}`))
    const older = linksIn(first.text).find((href) => href.includes('after=')) ?? ''
    expect(older).toMatch(/^\/archive\?report=daily&after=[\w-]+$/)
    const second = await get(url, older)
    expect(subjectsIn(second.text)).toEqual(
      Array.from({ length: 10 }, (_, index) => `Issue ${2 * index + 102}`),
    )
    expect(linksIn(second.text)).toContain('/archive?report=daily')
    expect(linksIn(second.text).some((href) => href.includes('after='))).toBe(false)
  })

  it('finds what is asked for, and says how to ask where nothing is like that', async () => {
    const { url, store } = await openDashboard()
    await keepDays(store, 3)
    const pageOf = (query: Record<string, string>) => get(url, `/archive?${new URLSearchParams(query)}`)
    expect(subjectsIn((await pageOf({ q: '"text of 2"' })).text)).toEqual(['Issue 2'])
    expect(subjectsIn((await pageOf({ q: '2025-12-30' })).text)).toEqual(['Issue 1'])
    expect(subjectsIn((await pageOf({ q: 'TEXT "of 3"' })).text)).toEqual(['Issue 3'])
    expect(subjectsIn((await pageOf({ report: 'sales & more' })).text)).toEqual(['Issue 1', 'Issue 3'])
    expect(subjectsIn((await pageOf({ state: 'sent' })).text)).toEqual([])
    const none = await pageOf({ q: '"><script>alert(1)</script>', report: 'daily', state: 'looked_at' })
    expect(wordsOf(none.text)).toContain('No issue is like that.')
    expect(none.text).not.toContain('<script>alert')
    expect(none.text).toContain('value="daily" selected')
    expect(none.text).toContain('value="looked_at" selected')
  })

  it('answers also what no form of it asks', async () => {
    const { url, store } = await openDashboard()
    await keepDays(store, 1)
    for (const query of ['q=a&q=b', 'state=none', 'after=none', 'q=%00%22*', `q=${'x%20'.repeat(500)}`]) {
      expect([query, (await get(url, `/archive?${query}`)).status]).toEqual([query, 200])
    }
  })
})

describe('an issue in the archive', () => {
  it('tells who got it, what the server said, and what became of them since', async () => {
    const archive = await openArchive()
    const { store, url } = archive
    await archive.mail(NOW)
    const choice = { which: 'one', address: 'ana@example.com' } as const
    const plan = await planResend(archive.deps, REPORT, PEOPLE, choice, NOW)
    await enqueueResend(archive.deps, REPORT, plan, 'a pipeline was missing')
    await archive.deliver()
    await store.write((trx) =>
      savePreference(trx, {
        address: 'clara@example.com',
        report: 'daily',
        state: 'paused',
        changedAt: '2026-11-20T10:00:00.000Z',
        changedBy: 'operator',
        reason: 'on leave',
      }),
    )
    const page = await get(url, await pathOf(store))
    const rows = [...page.text.matchAll(/<tr[^>]*>\s*<th scope="row"[\s\S]*?<\/tr>/g)].map(([row]) =>
      wordsOf(row),
    )
    expect(rows).toEqual([
      expect.stringMatching(/gone@example\.com refused .* 1 550 5\.1\.1 no such user/),
      expect.stringMatching(/ana@example\.com sent Fri 20 Nov.* 1 250 OK.* shown above/),
      expect.stringMatching(/ana@example\.com sent again .* 1 250 OK/),
      expect.stringMatching(/clara@example\.com paused by the operator on 2026-11-20: on leave sent /),
    ])
    expect(wordsOf(page.text)).toContain('sent to 2 of 3, 1 refused; again to 1')
    const beside = await pathOf(store, JSON.stringify({ pipelineIds: ['pl_emea'], conditions: [] }))
    expect(wordsOf((await get(url, beside)).text)).toContain('pipelines pl_emea')
    const again = await store.db
      .selectFrom('delivery')
      .where('revision', '=', 1)
      .selectAll()
      .executeTakeFirstOrThrow()
    const shown = await get(url, `${await pathOf(store)}?message=${bare(again.message_id)}&as=text`)
    expect(wordsOf(shown.text)).toContain('a pipeline was missing')
  })

  it('lets who signed in send the last one again, pause and test', async () => {
    const archive = await openArchive()
    const { store, url } = archive
    const actionsIn = (html: string) =>
      [...html.matchAll(/formaction="([^"]+)"/g)].map(([, action]) => action)
    await archive.mail(new Date(NOW.getTime() - 86_400_000))
    const before = await pathOf(store)
    await archive.mail(NOW)
    const { cookie } = await signIn(url)
    const show = async (path: string) =>
      (await ask(`${url}${path}`, { headers: { ...AS_BROWSER, cookie } })).text
    const { id } = await store.db
      .selectFrom('report_issue')
      .where('variant', '=', '')
      .orderBy('period_to', 'desc')
      .select('id')
      .executeTakeFirstOrThrow()
    const [test, failed, ...each] = actionsIn(await show(`/archive/${id}`))
    expect([test, failed]).toEqual(['/actions/test', '/actions/resend'])
    expect(each).toEqual(Array(3).fill(['/actions/resend', '/actions/pause']).flat())
    expect(actionsIn(await show(before))).toEqual(['/actions/test', ...Array(3).fill('/actions/pause')])
    expect(actionsIn((await get(url, `/archive/${id}`)).text)).toEqual([])
  })

  it('says what to do about a message that may not have arrived', async () => {
    const archive = await openArchive()
    const { store, url } = archive
    await archive.mail(NOW)
    const path = await pathOf(store)
    expect((await get(url, path)).text).not.toContain('outbox resolve')
    await store.write((trx) =>
      trx
        .updateTable('delivery')
        .where('recipient', '=', 'clara@example.com')
        .set({ state: 'unconfirmed', unconfirmed_count: 2 })
        .execute(),
    )
    expect((await get(url, path)).text).toContain(
      '<code>npx leadsheet outbox resolve --report daily --recipient clara@example.com --as delivered --yes</code>',
    )
    expect(wordsOf((await get(url, '/archive?state=unconfirmed')).text)).toContain(
      'sent to 1 of 3, 1 refused, 1 unconfirmed',
    )
  })

  it('says when a message is tried next: not before the mail server is', async () => {
    const { url, store, deps } = await openArchive()
    await enqueueDue(deps, PEOPLE, REPORT)
    const minutes = (after: number) => new Date(NOW.getTime() + after * 60_000).toISOString()
    const times = { beganAt: minutes(-5), nextAttemptAt: minutes(15) }
    await store.write((trx) =>
      saveMailOutage(trx, {
        server: 'smtp://mail.example.com',
        kind: 'transient',
        failures: 3,
        ...times,
        replyCode: null,
        response: 'connect ECONNREFUSED',
      }),
    )
    const { text } = await get(url, await pathOf(store))
    expect(text).toContain(`next try <time datetime="${minutes(15)}">`)
    expect(text).not.toContain(`next try <time datetime="${minutes(0)}">`)
  })

  it('shows in its frame the mail to the byte, but for where its pictures are', async () => {
    const archive = await openArchive()
    const { store, url } = archive
    await archive.mail(NOW)
    const { message_id: id } = await messageTo(store, 'clara@example.com')
    const page = await get(url, `${await pathOf(store)}?message=${bare(id)}`)
    expect(page.headers['content-security-policy']).toContain("frame-src 'self'")
    const [, src = ''] =
      /<iframe src="([^"]+)" height="\d+" sandbox title="The mail, To clara@example.com">/.exec(page.text) ??
      []
    const framed = await get(url, src)
    const message = await readMessage(store.db, id)
    const pictures = new Map(
      message.files.map(({ cid, content }) => [cid, Buffer.from(content).toString('base64')]),
    )
    const shown = framed.text.replaceAll(/="data:image\/png;base64,([^"]+)"/g, (source, content: string) => {
      const [cid] = [...pictures].find(([, each]) => each === content) ?? []
      return cid === undefined ? source : `="cid:${cid}"`
    })
    expect(message.html).toContain('="cid:')
    expect(shown).toBe(message.html)
    expect(framed.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; sandbox; form-action 'none'; frame-ancestors 'self'; base-uri 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
  })

  it('gives each message as it went over the wire, with what came with it', async () => {
    const archive = await openArchive()
    const { store, url, mailServer } = archive
    await archive.mail(NOW)
    const { message_id: id } = await messageTo(store, 'ana@example.com')
    const messages = `${await pathOf(store)}/message/${encodeURIComponent(bare(id))}`
    const { response, content } = await save(url, `${messages}.eml`)
    const sent = mailServer.received.find(({ to }) => to.includes('ana@example.com'))
    expect(content.equals(sent?.raw ?? Buffer.alloc(0))).toBe(true)
    expect(response.headers.get('content-type')).toBe('message/rfc822')
    expect(response.headers.get('content-disposition')).toBe(
      dispositionOf('daily-2026-11-20-ana@example.com.eml'),
    )
  })

  it('gives its figures as CSV', async () => {
    const archive = await openArchive()
    const { store, url } = archive
    await archive.mail(NOW)
    const path = await pathOf(store)
    const page = await get(url, path)
    const csv = linksIn(page.text).filter((href) => href.startsWith(`${path}/csv/`))
    expect(csv.map((href) => href.split('/').at(-1))).toEqual([
      'figures',
      'trend',
      'today',
      'changes',
      'top_leads',
      'stalled',
      'pipelines',
      'sources',
    ])
    const texts = new Map<string, string>()
    for (const href of csv) {
      const { response, content } = await save(url, href)
      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      texts.set(href.split('/').at(-1) ?? '', content.toString())
    }
    const [head, ...lines] = texts.get('figures')?.trim().split('\n') ?? []
    expect(head).toBe('report,period_from,period_to,figure,unit,value,before,known,of')
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^daily,2026-11-19T00:00:00.000Z,2026-11-20T00:00:00.000Z,new_leads,leads,\d+,\d+,,$/,
      ),
    )
    expect(texts.get('trend')).toMatch(/\n2026-11-19,\d+\n$/)
    expect(texts.get('pipelines')).toContain('pl_emea')
  })

  it('that was only looked at is shown as it was made, with its pictures', async () => {
    const archive = await openArchive()
    const { store, url } = archive
    await makeDue(archive.deps)
    const path = await pathOf(store)
    const page = await get(url, path)
    expect(wordsOf(page.text)).toContain('Nobody. It was not sent. looked at, not sent.')
    expect(page.text).toContain(`<iframe src="${path}/mail/issue"`)
    const { text } = await get(url, `${path}/mail/issue`)
    expect(text).toContain('src="data:image/png;base64,')
    expect(text).not.toContain('cid:')
  })

  it('says so where a message is no longer kept, and shows the issue all the same', async () => {
    const archive = await openArchive()
    const { store, url } = archive
    await archive.mail(NOW)
    const { message_id: id } = await messageTo(store, 'ana@example.com')
    await store.db.deleteFrom('message').where('message_id', '=', id).execute()
    const path = await pathOf(store)
    const page = await get(url, `${path}?message=${bare(id)}`)
    expect(wordsOf(page.text)).toContain('This message is no longer kept.')
    expect(page.text).not.toContain('<iframe')
    expect((await get(url, `${path}/message/${bare(id)}.eml`)).status).toBe(404)
    expect((await get(url, `${path}?message=issue`)).text).toContain('<iframe')
  })

  it('of an older program is shown without what it did not keep', async () => {
    const { url, store } = await openDashboard()
    const { id } = await store.write((trx) =>
      saveIssue(trx, {
        report: 'daily',
        variant: '',
        programVersion: null,
        subject: 'of before',
        text: 'text of before',
        period: periodBetween('2025-12-30', '2025-12-31', 'UTC'),
        renderedAt: '2025-12-31T07:00:00.000Z',
        html: '<p>of before</p>',
        figures: { leads: 3, freshness: {} } as never,
      }),
    )
    expect(wordsOf((await get(url, `/archive/${id}`)).text)).toContain('an older leadsheet')
    expect((await get(url, `/archive/${id}/mail/issue`)).text).toBe('<p>of before</p>')
    expect((await get(url, `/archive/${id}/csv/figures`)).status).toBe(404)
  })

  it('gives nothing of another issue, nor of what there is not', async () => {
    const archive = await openArchive()
    const { store, url } = archive
    await archive.mail(NOW)
    const path = await pathOf(store)
    const emea = bare((await messageTo(store, 'ben@example.com')).message_id)
    const ana = bare((await messageTo(store, 'ana@example.com')).message_id)
    for (const unknown of [
      ...['/archive/none', '/archive/none/mail/issue', '/archive/none/csv/figures'],
      ...[
        `/archive/none/message/${ana}.eml`,
        `/archive/%2e%2e%2f%2e%2e%2fetc`,
        `/archive/${'x'.repeat(5_000)}`,
      ],
      ...[`${path}?message=${emea}`, `${path}/mail/${emea}`, `${path}/message/${emea}.eml`],
      ...[`${path}/csv/none`, `${path}/csv/..%2ffigures`],
    ]) {
      const { status, text } = await get(url, unknown)
      expect([unknown, status]).toEqual([unknown, 404])
      expect(text).toMatch(/There is no such (issue|message)/)
      expect(linksIn(text)).toContain('/archive')
    }
    for (const elsewhere of ['', '.exe', '.eml/file/0'])
      expect((await get(url, `${path}/message/${ana}${elsewhere}`)).status).toBe(404)
  })

  it('is for those alone who have signed in', async () => {
    const archive = await openArchive()
    await archive.mail(NOW)
    const path = await pathOf(archive.store)
    const { message_id: id } = await messageTo(archive.store, 'ana@example.com')
    for (const each of ['/archive', path]) {
      const { status, headers } = await ask(`${archive.url}${each}`, { headers: AS_BROWSER })
      expect([status, headers.location]).toEqual([303, expect.stringMatching(/^\/sign-in/)])
    }
    for (const each of [`${path}/mail/issue`, `${path}/message/${bare(id)}.eml`, `${path}/csv/figures`]) {
      expect((await ask(`${archive.url}${each}`)).status).toBe(401)
    }
  })
})

it.each([
  ['plain.csv', 'attachment; filename="plain.csv"; filename*=UTF-8\'\'plain.csv'],
  ['a"b\\c/../d.csv', 'attachment; filename="a-b-c-..-d.csv"; filename*=UTF-8\'\'a-b-c-..-d.csv'],
  [
    'a\r\nSet-Cookie: x=1',
    'attachment; filename="aSet-Cookie- x=1"; filename*=UTF-8\'\'aSet-Cookie-%20x%3D1',
  ],
  ['..\\..\\evil', 'attachment; filename="-..-evil"; filename*=UTF-8\'\'-..-evil'],
  [
    "Müller (1)'s.csv",
    "attachment; filename=\"M_ller (1)'s.csv\"; filename*=UTF-8''M%C3%BCller%20%281%29%27s.csv",
  ],
  ['\u202egpj.exe', 'attachment; filename="gpj.exe"; filename*=UTF-8\'\'gpj.exe'],
  ['\ud800', 'attachment; filename="_"; filename*=UTF-8\'\'%EF%BF%BD'],
  ['...', 'attachment; filename="file"; filename*=UTF-8\'\'file'],
])('a download called %j is named so that it ends no field and leads nowhere', (name, disposition) => {
  expect(dispositionOf(name)).toBe(disposition)
})
