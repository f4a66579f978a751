import { describe, expect, it } from 'vitest'
import { hostileDay } from '../support/figures.ts'
import { renderDaily, wordsOf } from '../support/report.ts'

const PAYLOADS = [
  '<script>alert(1)</script>',
  '</title></head><body onload=alert(1)>',
  '</td></tr></table><img src=x onerror=alert(1)>',
  '"><svg/onload=alert(1)>',
  "' onmouseover='alert(1)",
  '" style="position:fixed;inset:0',
  'javascript:alert(1)',
  '<a href="javascript:alert(1)">x</a>',
  '<style>*{display:none}</style>',
  '<!--[if mso]><script>x</script><![endif]-->',
  '--><b>out</b>',
  ']]><x>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&#60;script&#62;',
  '{{title}} {{{title}}} {{constructor.constructor "alert(1)"}}',
  '{{> body}}',
  "$& $1 $` $' </head>",
  'a\r\nBcc: eve@example.org\r\n\r\nbody',
  '\u202egpj.exe\u2066',
  '\u0000\u0008\u001b[2J',
  '\ud800 half',
  '<'.repeat(5000),
  'W'.repeat(5000),
  'ﷺ'.repeat(500),
  `z${'\u0301'.repeat(3000)}`,
  "=cmd|' /C calc'!A0",
  '__proto__',
]

/** The page without its words: what a browser would build of it. */
const tagsOf = (html: string) => html.match(/<[^>]*>/g)
const expected = tagsOf(renderDaily(hostileDay('plain')).html)

describe.each(PAYLOADS.map((payload) => ({ payload, shown: JSON.stringify(payload).slice(0, 40) })))(
  'the name $shown',
  ({ payload }) => {
    const { subject, html, text } = renderDaily(hostileDay(payload))

    it('adds no element and no attribute to the page', () => {
      expect(tagsOf(html)).toEqual(expected)
    })

    it('cannot turn, hide or break a line of subject, page or text', () => {
      const written = [subject, wordsOf(html), ...text.split('\n')]
      for (const line of written) expect(line).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b]/u)
    })
  },
)
