import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { openBar, openLoggedProgress, progressLine } from '../../../src/cli/terminal/terminal.ts'
import { openLog } from '../../../src/log.ts'

describe('a line of progress', () => {
  test('shows the share, the counts, the pace and the time left', () => {
    expect(progressLine('Leads', 4500, 10_000, 1200, '12 pages')).toBe(
      'Leads  ███████████░░░░░░░░░░░░░   45%  4,500 of 10,000  12 pages  1,200/s  5 s left',
    )
  })

  test('shows what is known where the total is not', () => {
    expect(progressLine('Leads', 4500, null, 1200)).toBe('Leads  4,500  1,200/s')
    expect(progressLine('Leads', 0, null, null)).toBe('Leads  0')
  })

  test('never goes past the whole, though more came than was said', () => {
    expect(progressLine('Leads', 11, 10, 1)).toContain('100%  11 of 10  1/s  0 s left')
  })

  test.each([
    [59, '59 s left'],
    [61, '1 min left'],
    [8000, '2 h left'],
  ])('says %d seconds as %s', (seconds, text) => {
    expect(progressLine('Leads', 0, seconds, 1)).toContain(text)
  })
})

test('off a terminal a line is logged every five seconds', async () => {
  const lines: string[] = []
  const log = await openLog({
    level: 'info',
    pretty: false,
    color: false,
    secrets: [],
    write: (line) => lines.push(line),
  })
  let ms = 0
  using progress = openLoggedProgress('Leads', log, () => ms)
  for (ms = 0; ms <= 12_000; ms += 1000) progress.update(ms / 1000, 12, 'a page')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'Leads: a page', done: 5, total: 12 },
    { msg: 'Leads: a page', done: 10, total: 12 },
  ])
})

test('a bar is written to its stream', () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 100 })
  let ms = 0
  {
    using bar = openBar('Leads', stream, () => ms)
    bar.update(0, 10)
    ms = 1000
    bar.update(5, 10)
  }
  expect(String(stream.read())).toContain('50%  5 of 10  5/s  1 s left')
})

test('a bar that goes on with other things counts their pace from when they began', () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 100 })
  let ms = 0
  {
    using bar = openBar('Syncing', stream, () => ms)
    bar.update(0, 3000, 'leads')
    ms = 2000
    bar.update(3000, 3000, 'leads')
    bar.update(0, 200, 'details')
    ms = 3000
    bar.update(50, 200, 'details')
  }
  const shown = String(stream.read())
  expect(shown).toContain('25%  50 of 200  details  50/s  3 s left')
  expect(shown).not.toMatch(/-\d/)
})
