import { describe, expect, it } from 'vitest'
import { isPlaceholderTime, toInstant, toNumber } from '../../../src/upstream/values/scalar.ts'

const AT = '2026-11-21T06:00:00.000Z'
const READ: readonly (readonly [unknown, string])[] = [
  ['2026-11-21T06:00:00.000Z', AT],
  ['2026-11-21t06:00:00z', AT],
  ['2026-11-21T06:00Z', AT],
  ['2026-11-21T07:00:00+01:00', AT],
  ['2026-11-21T07:00:00+0100', AT],
  ['2026-11-21T00:30:00-05:30', AT],
  ['2026-11-21 06:00:00', AT],
  ['2026-11-21 06:00:00+00:00', AT],
  ['2026-11-21T06:00:00', AT],
  [' 2026-11-21T06:00:00Z ', AT],
  ['2026-11-21T06:00:00.123456789Z', '2026-11-21T06:00:00.123Z'],
  ['2026-11-21T06:00:00,5Z', '2026-11-21T06:00:00.500Z'],
  ['2026-11-21', '2026-11-21T00:00:00.000Z'],
  ['20261121T060000Z', AT],
  ['20261121060000', AT],
  ['Sat, 21 Nov 2026 06:00:00 GMT', AT],
  ['21 Nov 2026 07:00:00 +0100', AT],
  ['/Date(1795240800000)/', AT],
  [{ __type: 'Date', iso: '2026-11-21T06:00:00.000Z' }, AT],
  [1_795_240_800, AT],
  [1_795_240_800_000, AT],
  ['1795240800000', AT],
  [1_795_240_800_000_000, AT],
  ['1795240800000000000', AT],
  [1_795_240_800.5, '2026-11-21T06:00:00.500Z'],
  // Clocks in Berlin show 02:30 twice that night. The offset tells which one is meant.
  ['2026-10-25T02:30:00+02:00', '2026-10-25T00:30:00.000Z'],
  ['2026-10-25T02:30:00+01:00', '2026-10-25T01:30:00.000Z'],
  // 02:30 does not exist there that night. Without a zone, the time is read in UTC, where it exists.
  ['2026-03-29T02:30:00', '2026-03-29T02:30:00.000Z'],
  ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  [2_147_483_648, '2038-01-19T03:14:08.000Z'],
  ['2199-12-31T23:59:59Z', '2199-12-31T23:59:59.000Z'],
]
const PLACEHOLDERS: readonly unknown[] = [
  '0001-01-01T00:00:00Z',
  '0000-00-00 00:00:00',
  '0000-00-00',
  '1970-01-01T00:00:00Z',
  '1900-01-01',
  '9999-12-31T23:59:59Z',
  0,
  -62_135_596_800,
  -62_135_596_800_000,
  // The end of the year 9999 in seconds, milliseconds and microseconds.
  253_402_300_799,
  253_402_300_799_000,
  '253402300799999999',
]
const NONE: readonly unknown[] = [
  '',
  'yesterday',
  '2026-02-30',
  '2025-02-29T00:00:00Z',
  '2026-11-21T25:00:00Z',
  '2026-11-21T06:00:00+99:00',
  '21/11/2026',
  '2026-11',
  '12',
  'Date(1)',
  null,
  true,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  // 2026-11-27T12:00:00Z in .NET ticks, FILETIME, the microseconds of WebKit, the days of Excel and the seconds
  // of Cocoa, and a day as a JSON number.
  '639313776000000000',
  '134402544000000000',
  13_440_254_400_000_000,
  46_353.5,
  '817473600',
  20_261_127,
  ['2026-11-21'],
  { at: '2026-11-21' },
]

describe('times', () => {
  it('come to UTC from every way in which upstreams write them', () => {
    expect(READ.map(([value]) => [value, toInstant(value)])).toEqual(READ)
  })

  it('that stand for none are none, and told from what is no time', () => {
    expect(PLACEHOLDERS.filter((value) => toInstant(value) !== null)).toEqual([])
    expect(PLACEHOLDERS.filter((value) => !isPlaceholderTime(value))).toEqual([])
    expect(NONE.filter((value) => toInstant(value) !== null)).toEqual([])
    expect(NONE.filter(isPlaceholderTime)).toEqual([])
  })

  it('in the form in which they are kept are what a closer look makes of them, each day and hour from 1969 to 2200', () => {
    const pad = (value: number): string => String(value).padStart(2, '0')
    const times = Array.from(
      { length: 62 },
      (_, number) => `${pad(number % 27)}:${pad(number)}:${pad(61 - number)}.0${pad(number)}Z`,
    )
    for (let year = 1969; year <= 2200; year++) {
      for (let month = 0; month <= 13; month++) {
        for (let day = 0; day <= 32; day++) {
          const text = `${year}-${pad(month)}-${pad(day)}T${times[(year + month * 31 + day) % 62]}`
          // A leading space is ignored, and makes the function use its slow way.
          if (toInstant(text) !== toInstant(` ${text}`))
            expect(toInstant(text), text).toBe(toInstant(` ${text}`))
        }
      }
    }
  })
})

const NUMBERS_READ: readonly (readonly [unknown, number | null])[] = [
  ['42', 42],
  ['+7', 7],
  ['007', 7],
  [' 7 ', 7],
  ['\t12\n', 12],
  ['1.5', 1.5],
  ['.5', 0.5],
  ['1,234', 1234],
  ['1,234.5', 1234.5],
  ['12,345,678', 12_345_678],
  ['1e3', 1000],
  ['2.5e-1', 0.25],
  ['9007199254740993', 9_007_199_254_740_992],
  [42, 42],
  [0.1, 0.1],
  ['', null],
  ['N/A', null],
  ['-', null],
  ['null', null],
  ['NaN', null],
  ['Infinity', null],
  ['1e400', null],
  [Number.NaN, null],
  [Number.POSITIVE_INFINITY, null],
  ['12 %', null],
  ['$1,200', null],
  ['1.234,5', null],
  ['1,23', null],
  ['1 234', null],
  ['0x10', null],
  ['−5', null],
  ['１２', null],
  ['5.', null],
  [true, null],
  [null, null],
  [{ value: 1 }, null],
]

it('reads numbers by rule and never the text of what is none', () => {
  expect(NUMBERS_READ.map(([value]) => [value, toNumber(value)])).toEqual(NUMBERS_READ)
})
