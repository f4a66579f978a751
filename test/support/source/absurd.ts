/** Random values that no service should send, for any field of a record. */
import { PAYLOADS } from '../mail/payloads.ts'

/** Numbers that JSON can hold and a double cannot. */
const NUMBERS = [
  ...['0', '-0', '1', '-1', '0.1', '999999.995', '5e-324', '1e-320', '-1e-7', '9007199254740993', '99999999'],
  ...['1e9', '1e15', '-1e15', '1e16', '1e21', '1e60', '-1e60', '1e308', '-1e308', '1e400', '-1e400'],
]

const TEXTS = [
  ...[
    '',
    ' ',
    'N/A',
    '1,234.5',
    '-1e308',
    '9'.repeat(400),
    'constructor',
    '__proto__',
    '=1+1',
    '…',
    '-',
    '- ',
  ],
  ...['W'.repeat(10_000), 'word '.repeat(2_000), `${' '.repeat(5_000)}x`, '- '.repeat(300), '-'.repeat(300)],
  ...[
    'שלום '.repeat(50),
    'مرحبا بالعالم',
    `\u202e${'txt.exe '.repeat(30)}`,
    '\u0000\u0007\u001b[31m',
    '\n'.repeat(500),
  ],
  ...[`z${'\u0301'.repeat(300)}`, '👩‍🔬'.repeat(200), '\ud800', '\u00a0'.repeat(1_000), '漢字'.repeat(3_000)],
  ...['Donaudampfschifffahrtsgesellschaftskapitän', 'https://example.com/'.padEnd(3_000, 'x')],
  ...PAYLOADS,
]

const TIMES = [
  ...[
    '0001-01-01T00:00:00Z',
    '0000-00-00',
    '0000-00-00T00:00:00Z',
    '+275760-09-13T00:00:00Z',
    '-271821-04-20T00:00:00Z',
  ],
  ...[
    '9999-12-31T23:59:59Z',
    '2199-12-31T23:59:59Z',
    '1971-01-01T00:00:00Z',
    '2026-11-19T24:00:00Z',
    '2026-02-30',
    'soon',
  ],
  ...['2026-11-19T23:59:60Z', '2026-11-19T09:00:00+14:00', '2026-11-20', '20261119T090000Z'],
]
const EPOCHS = ['8.64e15', '-8.64e15', '8.64e18', '1', '-1', '253402300799999', '1e308']

const CURRENCIES = [
  'XXX',
  '€',
  'usd',
  'US$',
  'ABC',
  'JPY',
  'BTC',
  'KWD',
  '',
  '١٢٣',
  'W'.repeat(10_000),
  '-',
  '\u202eDSU',
  'E R',
]

/** Returns a random value as JSON. */
export function absurdValue(next: () => number): string {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)] as T
  return pick<() => string>([
    () => pick(NUMBERS),
    () => JSON.stringify(pick(NUMBERS)),
    () => JSON.stringify(pick(TEXTS)),
    () => JSON.stringify(pick(TEXTS)),
    () => JSON.stringify(pick(TIMES)),
    () => pick(EPOCHS),
    () => JSON.stringify(pick(CURRENCIES)),
    () => pick(['null', 'true', '[]', '{}', '[[]]', '{"iso":1e308}']),
    () => `[${JSON.stringify(pick(TEXTS))},${pick(NUMBERS)}]`,
  ])()
}

/**
 * Returns a record as JSON with some fields and nested fields replaced by absurd values. About half of the
 * time `id` is kept.
 */
export function absurdRecord(record: object, share: number, next: () => number): string {
  const fields = Object.entries(record).map(([name, value]) => {
    const isFixed = name === 'id' && next() < 0.5
    const text =
      !isFixed && next() < share
        ? absurdValue(next)
        : typeof value === 'object' && value !== null && !Array.isArray(value)
          ? absurdRecord(value, share, next)
          : JSON.stringify(value)
    return `${JSON.stringify(name)}:${text}`
  })
  return `{${fields.join(',')}}`
}
