import { describe, expect, it } from 'vitest'
import {
  capitalise,
  oneLine,
  oneLineOrNull,
  withoutAutoLinks,
  wrapLines,
} from '../../../src/report/words/clean-text.ts'

describe('one line', () => {
  it.each([
    ['line breaks', 'a\r\nBcc: b\u2028c\u0085d', 'a Bcc: b c d'],
    ['what turns the text round', '\u202egnp.\u202cexe\u2066x\u2069', 'gnp.exex'],
    ['what cannot be seen', 'a\u200bb\ufeffc\u00add\u{e0041}e', 'abcde'],
    ['NUL, escapes and half characters', 'a\u0000b\u001b[31mc\ud800d', 'a b [31mc\ufffdd'],
    ['blanks', '  a \t\u00a0 b  ', 'a b'],
    ['towers of accents', `z${'\u0301'.repeat(50)}`, `z${'\u0301'.repeat(4)}`],
  ])('is freed of %s', (_what, text, clean) => {
    expect(oneLine(text, 100)).toBe(clean)
  })

  it('keeps the joiners that scripts and emoji need', () => {
    for (const text of ['स्\u200dत', '👩\u200d🔬']) expect(oneLine(text, 100)).toBe(text)
    expect(oneLine('می\u200cخواهم', 100)).toBe('\u2068می\u200cخواهم\u2069')
  })

  it('is cut at a word where one ends near, and never within a character', () => {
    expect(oneLine('Fathom Analytics for Regional Hospitals', 30)).toBe('Fathom Analytics for Regional…')
    expect(oneLine('a'.repeat(5000), 60)).toBe(`${'a'.repeat(59)}…`)
    expect(oneLine('👩‍🔬'.repeat(100), 12)).toBe('👩‍🔬👩‍🔬…')
    expect(oneLine('x'.repeat(60), 60)).toBe('x'.repeat(60))
  })

  it.each([
    ['Arabic, with its digits alone', '٧٧', '[٧٧]'],
    ['old scripts beyond the first plane', '\u{10900} 7', '[\u{10900} 7]'],
    ['a mix that begins in Latin', 'Acme (שלום) 7', '[Acme (שלום) 7]'],
    ['controls that are never closed', '\u202e\u2067שלום', '[שלום]'],
    ['an end without a beginning', 'שלום\u2069\u202c 77', '[שלום 77]'],
    ['isolation of its own, within itself', '\u2068a \u2068שלום\u2069 b', 'a [שלום] b'],
    ['no such letter: nothing is added', 'Şimşek 77 \u2068Optik\u2069', 'Şimşek 77 Optik'],
    ['a length that is cut', 'שלום '.repeat(30), '[שלום שלום שלום שלום…]'],
  ])('is isolated where it is right-to-left: %s', (_what, text, isolated) => {
    const expected = isolated.replace('[', '\u2068').replace(']', '\u2069')
    expect(oneLine(text, 22)).toBe(expected)
    expect(oneLine(oneLine(text, 22), 24)).toBe(expected)
  })

  it('keeps the names of a sentence apart when the sentence is cleaned again, or cut in a name', () => {
    const sentence = `${oneLine('שלום', 9)}: 77, ${oneLine('سلام علیکم', 12)}: 3`
    expect(oneLine(sentence, 60)).toBe(sentence)
    expect(oneLine(sentence, 20)).toBe('\u2068שלום\u2069: 77, \u2068سلام…\u2069')
  })

  it.each([
    ['https://evil.example/login?a=1.5', 'https://|evil|.example/login?a=1.5'],
    ['http://10.0.0.1/x', 'http://|10.0.0.1/x'],
    ['Acme (www.evil.example)', 'Acme (www|.evil|.example)'],
    ['ana@evil.example', 'ana@evil|.example'],
    ['3com.example', '3com|.example'],
    ['еріс。com', 'еріс|。com'],
    ['daily-2026-11-20.xlsx', 'daily-2026-11-20.xlsx'],
    ['Acme Inc. & Co. 1.234,5 at 2.0', 'Acme Inc. & Co. 1.234,5 at 2.0'],
  ])('is no link in a mail: %s', (text, broken) => {
    expect(withoutAutoLinks(text)).toBe(broken.replaceAll('|', '\u200b'))
  })

  it('is absent when nothing is left of it', () => {
    expect(oneLineOrNull(' \u200b\n', 60)).toBeNull()
    expect(oneLineOrNull(null, 60)).toBeNull()
  })
})

it.each([
  ['meeting_booked', 'Meeting booked'],
  ['closed-won', 'Closed won'],
  ['SQL', 'SQL'],
  ['überfällig', 'Überfällig'],
])('the status %j is shown as %j', (status, label) => {
  expect(capitalise(status)).toBe(label)
})
describe('wrapped text', () => {
  it('breaks at spaces and keeps the indentation of a list', () => {
    expect(wrapLines('- one two three four\n      five six seven', 12)).toBe(
      '- one two\n  three four\n      five\n      six\n      seven',
    )
  })

  it('closes an isolated name at the end of a line, and opens it again in the next', () => {
    expect(wrapLines('- \u2068שלום רב לך\u2069, 77 days', 14)).toBe(
      '- \u2068שלום רב\u2069\n  \u2068לך\u2069, 77\n  days',
    )
  })

  it('leaves a word whole that is longer than the line', () => {
    const url = `https://example.com/${'x'.repeat(90)}`
    expect(wrapLines(`see ${url} now`, 72)).toBe(`see\n${url}\nnow`)
  })

  it('ends whatever a line begins with, and loses no word', () => {
    for (const begin of [' '.repeat(73), ' '.repeat(10_000), '- ', `${' '.repeat(72)}- `, '-   '])
      for (const words of ['', 'a', 'a b', 'x '.repeat(500), 'W'.repeat(10_000), `${'W'.repeat(90)} b`]) {
        const lines = wrapLines(begin + words, 72)
        expect(lines.split(/\s+/).filter(Boolean)).toEqual((begin + words).split(/\s+/).filter(Boolean))
        expect(lines.length).toBeLessThan(100_000)
      }
  })
})
