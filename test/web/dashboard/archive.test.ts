/** The dashboard's archive, over issues that were really made and mailed. */
import { describe, expect, it } from 'vitest'
import { periodBetween } from '../../../src/domain/period.ts'
import { enqueueResend, planResend } from '../../../src/jobs/reports/resend.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { saveMailOutage } from '../../../src/store/outbox/send-limits.ts'
import { readMessage } from '../../../src/store/outbox/stored-message.ts'
import { savePreference } from '../../../src/store/reports/preference.ts'
import { dispositionOf } from '../../../src/web/server/headers.ts'
import { mailOutage } from '../../support/data/operation.ts'
import { enqueueDue, makeDue } from '../../support/mail/reports.ts'
import { keepIssue, openArchive, PEOPLE, pathOfIssue as pathOf, REPORT } from '../../support/web/archive.ts'
import { AS_BROWSER, ask, NOW, openDashboard, signIn, TOKEN } from '../../support/web/dashboard.ts'
import { shownText } from '../../support/web/shown-text.ts'

const AS_OPERATOR = { ...AS_BROWSER, authorization: `Bearer ${TOKEN}` }

const get = (url: string, path: string) => ask(`${url}${path}`, { headers: AS_OPERATOR })

/** Returns the bytes of a file as a download. */
async function save(url: string, path: string) {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })
  return { response, content: Buffer.from(await response.arrayBuffer()) }
}

const linksIn = (html: string) =>
  [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) =>
    href.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&'),
  )

/** Compares what a page shows with its golden file. The ids of messages depend on that of the installation. */
async function expectShown(html: string, name: string): Promise<void> {
  const text = shownText(html)
    .replaceAll(/(?<!%2?)[0-9a-v]{40}/g, 'MESSAGE')
    .replaceAll(/\bafter=[\w-]+/g, 'after=ISSUE')
  await expect(`${text}\n`).toMatchFileSnapshot(`golden/${name}.txt`)
}

const messageTo = (store: Store, recipient: string) =>
  store.db.selectFrom('delivery').where('recipient', '=', recipient).selectAll().executeTakeFirstOrThrow()

const bare = (messageId: string) => messageId.slice(1, -1)

describe('the list of the archive', () => {
  /** Saves issues of so many days up to the end of 2025, each with its number. */
  async function keepDays(store: Store, count: number) {
    for (let number = 1; number <= count; number++) {
      const day = (more: number) =>
        new Date(Date.UTC(2025, 11, 31 + more - number)).toISOString().slice(0, 10)
      const report = number % 2 === 0 ? 'daily' : 'sales & more'
      const about = {
        report,
        period: periodBetween(day(0), day(1), 'UTC'),
        renderedAt: `${day(1)}T07:00:00.000Z`,
      }
      const messageId = `<${number}@example.com>`
      await keepIssue(
        store,
        { ...about, subject: `Issue ${number}`, text: `text of ${number}` },
        { messageId },
      )
    }
  }
  const subjectsIn = (html: string) => [...html.matchAll(/>(Issue \d+)</g)].map(([, subject]) => subject)

  it('leads from page to page, with all that was asked for', async () => {
    const { url, store } = await openDashboard()
    await expectShown((await get(url, '/archive')).text, 'archive/none')
    await keepDays(store, 110)
    const first = await get(url, '/archive?report=daily')
    expect(subjectsIn(first.text)).toEqual(Array.from({ length: 50 }, (_, index) => `Issue ${2 * index + 2}`))
    const older = linksIn(first.text).find((href) => href.includes('after=')) ?? ''
    expect(older).toMatch(/^\/archive\?report=daily&after=[\w-]+$/)
    const second = await get(url, older)
    expect(subjectsIn(second.text)).toEqual(
      Array.from({ length: 5 }, (_, index) => `Issue ${2 * index + 102}`),
    )
    expect(linksIn(second.text)).toContain('/archive?report=daily')
    expect(linksIn(second.text).some((href) => href.includes('after='))).toBe(false)
  })

  it('finds what is asked for, and says how to ask where nothing is like that', async () => {
    const { url, store } = await openDashboard()
    await keepDays(store, 3)
    await expectShown((await get(url, '/archive')).text, 'archive/archive')
    const pageOf = (query: Record<string, string>) => get(url, `/archive?${new URLSearchParams(query)}`)
    expect(subjectsIn((await pageOf({ q: '"text of 2"' })).text)).toEqual(['Issue 2'])
    expect(subjectsIn((await pageOf({ report: 'sales & more' })).text)).toEqual(['Issue 1', 'Issue 3'])
    expect(subjectsIn((await pageOf({ state: 'sent' })).text)).toEqual([])
    const none = await pageOf({ q: '"><script>alert(1)</script>', report: 'daily', state: 'looked_at' })
    expect(none.text).toContain('No issue is like that.')
    expect(none.text).not.toContain('<script>alert')
    expect(none.text).toContain('value="daily" selected')
    expect(none.text).toContain('value="looked_at" selected')
  })

  it('answers also what no form of it asks', async () => {
    const { url } = await openDashboard()
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
    const clara = { address: 'clara@example.com', report: 'daily', changedAt: '2026-11-20T10:00:00.000Z' }
    const paused = { state: 'paused', changedBy: 'operator', reason: 'on leave' } as const
    await store.write((trx) => savePreference(trx, { ...clara, ...paused }))
    const path = await pathOf(store)
    await expectShown((await get(url, path)).text, 'issue/issue')
    const beside = await pathOf(store, JSON.stringify({ pipelineIds: ['pl_emea'], conditions: [] }))
    expect((await get(url, beside)).text).toContain('pipelines pl_emea')
    const again = await store.db
      .selectFrom('delivery')
      .where('revision', '=', 1)
      .selectAll()
      .executeTakeFirstOrThrow()
    const shown = await get(url, `${path}?message=${bare(again.message_id)}&as=text`)
    expect(shown.text).toMatch(/a pipeline was\s+missing/)

    const toClara = store.db.updateTable('delivery').where('recipient', '=', 'clara@example.com')
    await toClara.set({ state: 'unconfirmed', unconfirmed_count: 2 }).execute()
    await expectShown((await get(url, path)).text, 'issue/unconfirmed')
    const { message_id: gone } = await messageTo(store, 'clara@example.com')
    await store.db.deleteFrom('message').where('message_id', '=', gone).execute()
    const page = await get(url, `${path}?message=${bare(gone)}`)
    expect(page.text).toContain('This message is no longer kept.')
    expect(page.text).not.toContain('<iframe')
    expect((await get(url, `${path}/message/${bare(gone)}.eml`)).status).toBe(404)
    expect((await get(url, `${path}?message=issue`)).text).toContain('<iframe')
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
    const newest = await pathOf(store)
    const [test, failed, ...each] = actionsIn(await show(newest))
    expect([test, failed]).toEqual(['/actions/test', '/actions/resend'])
    expect(each).toEqual(Array(3).fill(['/actions/resend', '/actions/pause']).flat())
    expect(actionsIn(await show(before))).toEqual(['/actions/test', ...Array(3).fill('/actions/pause')])
    expect(actionsIn((await get(url, newest)).text)).toEqual([])
  })

  it('says when a message is tried next: not before the mail server is', async () => {
    const { url, store, deps } = await openArchive()
    await enqueueDue(deps, PEOPLE, REPORT)
    const minutes = (after: number) => new Date(NOW.getTime() + after * 60_000).toISOString()
    const outage = mailOutage(minutes(-5), { nextAttemptAt: minutes(15) })
    await store.write((trx) => saveMailOutage(trx, outage))
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

  it('gives each message as it went over the wire, and its figures as CSV', async () => {
    const archive = await openArchive()
    const { store, url, mailServer } = archive
    await archive.mail(NOW)
    const { message_id: id } = await messageTo(store, 'ana@example.com')
    const path = await pathOf(store)
    const messages = `${path}/message/${encodeURIComponent(bare(id))}`
    const { response, content } = await save(url, `${messages}.eml`)
    const sent = mailServer.received.find(({ to }) => to.includes('ana@example.com'))
    expect(content.equals(sent?.raw ?? Buffer.alloc(0))).toBe(true)
    expect(response.headers.get('content-type')).toBe('message/rfc822')
    expect(response.headers.get('content-disposition')).toBe(
      dispositionOf('daily-2026-11-20-ana@example.com.eml'),
    )
    const csv = linksIn((await get(url, path)).text).filter((href) => href.startsWith(`${path}/csv/`))
    const texts: string[] = []
    for (const href of csv) {
      const { response, content } = await save(url, href)
      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      texts.push(`${href.split('/').at(-1)}\n${content.toString().replaceAll('\r', '')}`)
    }
    await expect(texts.join('\n')).toMatchFileSnapshot('golden/issue/csv.txt')
  })

  it('that was only looked at is shown as it was made, with its pictures', async () => {
    const archive = await openArchive()
    const { store, url } = archive
    await makeDue(archive.deps)
    const path = await pathOf(store)
    const page = await get(url, path)
    expect(shownText(page.text)).toMatch(/Nobody\. It was not sent\.\s+looked at, not sent\./)
    expect(page.text).toContain(`<iframe src="${path}/mail/issue"`)
    const { text } = await get(url, `${path}/mail/issue`)
    expect(text).toContain('src="data:image/png;base64,')
    expect(text).not.toContain('cid:')
  })

  it('of an older program is shown without what it did not keep', async () => {
    const { url, store } = await openDashboard()
    const figures = { leads: 3, freshness: {} } as never
    const id = await keepIssue(store, { programVersion: null, html: '<p>of before</p>', figures })
    expect((await get(url, `/archive/${id}`)).text).toContain('an older leadsheet')
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
      `/archive/none/message/${ana}.eml`,
      `/archive/%2e%2e%2f%2e%2e%2fetc`,
      `/archive/${'x'.repeat(5_000)}`,
      ...[`${path}?message=${emea}`, `${path}/mail/${emea}`, `${path}/message/${emea}.eml`],
      ...[`${path}/csv/none`, `${path}/csv/..%2ffigures`],
    ]) {
      const { status, text } = await get(url, unknown)
      expect([unknown, status]).toEqual([unknown, 404])
      expect(text).toMatch(/There is no such (issue|message)/)
    }
    for (const elsewhere of ['', '.exe', '.eml/file/0'])
      expect((await get(url, `${path}/message/${ana}${elsewhere}`)).status).toBe(404)
  })
})

it.each([
  ['plain.csv', 'plain.csv', 'plain.csv'],
  ['a"b\\c/../d.csv', 'a-b-c-..-d.csv', 'a-b-c-..-d.csv'],
  ['a\r\nSet-Cookie: x=1', 'aSet-Cookie- x=1', 'aSet-Cookie-%20x%3D1'],
  ['..\\..\\evil', '-..-evil', '-..-evil'],
  ["Müller (1)'s.csv", "M_ller (1)'s.csv", 'M%C3%BCller%20%281%29%27s.csv'],
  ['\u202egpj.exe', 'gpj.exe', 'gpj.exe'],
  ['\ud800', '_', '%EF%BF%BD'],
  ['...', 'file', 'file'],
])('a download called %j is named so that it ends no field and leads nowhere', (name, ascii, encoded) => {
  expect(dispositionOf(name)).toBe(`attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`)
})
