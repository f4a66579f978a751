/** Text of others does no harm at any exit of the program. */
import PostalMime from 'postal-mime'
import { describe, expect, it } from 'vitest'
import { fields, type Paragraph, plainText, styledText, table } from '../src/cli/terminal/table.ts'
import { encodeCsv } from '../src/jobs/snapshot/encode-text.ts'
import { openLog } from '../src/log.ts'
import { buildMessage } from '../src/mail/message.ts'
import { isolateHtml, printable, printableJson } from '../src/printable.ts'
import { oneLine } from '../src/report/words/clean-text.ts'
import { MESSAGE } from './support/mail/message.ts'

const HOSTILE = 'a\u001b[2Jb\u202egpj.exe\u202c\u0085c\u2066d\u2069\u009b31me\u2028f\u200eg\u061c'
const HARMLESS = 'a [2Jbgpj.exe cd 31me fg'
const UNFIT = /[^\P{Cc}\n\t\r]|[\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

async function logged(pretty: boolean): Promise<string> {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const log = await openLog({ level: 'info', pretty, color: false, secrets: [], write })
  log.warn({ name: HOSTILE, back: 'C:\\u001b\\b' }, HOSTILE)
  return lines.join('')
}

const mailed = async () =>
  PostalMime.parse(
    await buildMessage({ ...MESSAGE, subject: HOSTILE, text: HOSTILE, html: `<p>${HOSTILE}</p>` }),
  )

const row = [{ title: HOSTILE, value: () => HOSTILE }]
const layOut = (paragraph: Paragraph) =>
  typeof paragraph === 'string'
    ? paragraph
    : paragraph({ width: Number.POSITIVE_INFINITY, style: (_, text) => text })

describe('control and direction characters of others', () => {
  it.each<[string, () => string | Promise<string>]>([
    ['a text', () => printable(HOSTILE)],
    ['a line of a mail', () => oneLine(HOSTILE, 100)],
    ['a terminal', () => plainText(HOSTILE)],
    ['a terminal with colours', () => styledText(HOSTILE)],
    ['the cells and titles of a table', () => layOut(table([{}], row))],
    ['fields and their names', () => layOut(fields({ [HOSTILE]: HOSTILE }))],
    ['the heading of a CSV file', () => [...encodeCsv([{ name: HOSTILE }], [], 'en')].join('')],
    ['the log', () => logged(false)],
    ['the log on a terminal', () => logged(true)],
    ['JSON', () => printableJson(JSON.stringify(HOSTILE))],
    ['the subject of a mail', async () => (await mailed()).subject ?? ''],
    ['the text of a mail', async () => (await mailed()).text ?? ''],
    ['the HTML of a mail', async () => (await mailed()).html ?? ''],
  ])('are not in %s', async (_where, make) => {
    const text = await make()
    expect(text).toMatch(/a.*\[2Jb/)
    expect(text).not.toMatch(UNFIT)
  })

  it('become spaces or nothing, and JSON keeps its value', () => {
    expect(printable(HOSTILE)).toBe(HARMLESS)
    expect(printable('one\n\ttwo')).toBe('one\n\ttwo')
    expect(JSON.parse(printableJson(JSON.stringify({ HOSTILE }, null, 2)))).toEqual({ HOSTILE })
  })

  it('leave a backslash of a log line as it is', async () => {
    expect(await logged(true)).toContain(String.raw`C:\u001b\b`)
  })

  it('stay in a mail where they are a pair that isolates a right-to-left text', async () => {
    const isolated = '\u2068שלום\u2069, 77\u2068 days\u2069\u2068'
    const parts = {
      subject: isolated,
      text: isolated,
      html: isolateHtml(`<p title="${isolated}">${isolated}</p>`),
    }
    const { subject, text, html } = await PostalMime.parse(await buildMessage({ ...MESSAGE, ...parts }))
    const kept = '\u2068שלום\u2069, 77 days'
    expect([subject, text?.trim()]).toEqual([kept, kept])
    expect(html?.trim()).toBe(`<p title="${kept}"><bdi>שלום</bdi>, 77<bdi> days</bdi></p>`)
  })
})
