/**
 * Numbers and amounts as a locale writes them. Rates are 0 to 1 here; the minus is a real one, U+2212, and what
 * belongs together has a no-break space.
 */
import type { Money } from '../../model.ts'
import { oneLine } from './clean-text.ts'

/** Below this many, a percentage says less than the counts. */
export const FEW = 10

const CURRENCY_LENGTH = 12
const MILLION = 1_000_000
const ROOM_FOR = 1e18

export interface Numbers {
  /** `1,284` */
  readonly count: (count: number) => string
  /** `3.5`, with as many digits behind the point as are asked for at most. */
  readonly decimal: (value: number, digits: number) => string
  /** `3.0`, with so many digits behind the point. */
  readonly fixed: (value: number, digits: 1 | 2) => string
  /** `23.7%` */
  readonly rate: (rate: number) => string
  /** `18%`, also more than 100% */
  readonly percent: (share: number) => string
  /** `88%`; a share that is not quite none or all is not rounded to it. */
  readonly share: (share: number) => string
  /** `$1.2m`, `€300k`, `CHF 950`; a code that is none of ISO 4217's stands behind: `950 credits`. */
  readonly money: (money: Money) => string
  /** `€1,304,250.50`, `23.68%`: to tell what rounded would look the same. */
  readonly exactMoney: (money: Money) => string
  readonly exactRate: (rate: number) => string
}

const known = new Map<string, Numbers>()

/** @param locale BCP 47, such as `de-CH` */
export function numbersOf(locale: string): Numbers {
  const found = known.get(locale) ?? createNumbers(locale)
  known.set(locale, found)
  return found
}

/** For operators, in English: `1 lead`, `5,706 leads` */
export function counted(count: number, noun: string): string {
  return `${numbersOf('en').count(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** `+9`, `−3`, `±0` */
export function signed(difference: number, write: (size: number) => string): string {
  if (difference === 0) return '±0'
  return (difference > 0 ? '+' : '−') + write(Math.abs(difference))
}

function createNumbers(locale: string): Numbers {
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0, useGrouping: 'always' })
  const decimals = [0, 1, 2].map((digits) => new Intl.NumberFormat(locale, { maximumFractionDigits: digits }))
  const fixedFormat = (digits: number) =>
    new Intl.NumberFormat(locale, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      useGrouping: 'always',
    })
  const fixed = { 1: fixedFormat(1), 2: fixedFormat(2) }
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 })
  const permille = new Intl.NumberFormat(locale, {
    style: 'percent',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  })
  const percentExact = new Intl.NumberFormat(locale, { style: 'percent', minimumFractionDigits: 2 })
  return {
    count: (count) => inRoom(count, whole),
    decimal: (value, digits) => inRoom(value, decimals[digits] ?? whole),
    fixed: (value, digits) => inRoom(value, fixed[digits]),
    rate: (rate) => inRoom(rate, permille),
    percent: (share) => inRoom(share, percent),
    share(share) {
      if (share > 0 && share < 0.01) return `<${percent.format(0.01)}`
      if (share < 1 && share > 0.99) return `>${percent.format(0.99)}`
      return inRoom(share, percent)
    },
    money: (money) => writeMoney(money, (currency) => writeAmount(locale, currency, money.amount)),
    exactMoney: (money) =>
      writeMoney(money, (currency) => inRoom(money.amount, amountFormat(locale, currency, 'exact'))),
    exactRate: (rate) => inRoom(rate, percentExact),
  }
}

/** Numbers that a column has room for; what is far beyond is written with its power of ten: `1e+60`. */
function inRoom(value: number, format: Pick<Intl.NumberFormat, 'format'>): string {
  return minus(Math.abs(value) < ROOM_FOR ? format.format(value) : String(value))
}

function minus(text: string): string {
  return text.replace('-', '−')
}

/** A code that is none of ISO 4217's stands behind its amount. */
function writeMoney({ currency }: Money, write: (code: string | null) => string): string {
  if (/^[A-Za-z]{3}$/.test(currency)) return minus(write(currency.toUpperCase()))
  return `${minus(write(null))}\u00a0${oneLine(currency, CURRENCY_LENGTH)}`.trim()
}

/** `$4.0m`, not `$4m`, beside `$4.2m`: so few millions have a digit behind the point. */
function writeAmount(locale: string, currency: string | null, amount: number): string {
  if (Math.abs(amount) >= ROOM_FOR) return `${amount}${currency === null ? '' : ` ${currency}`}`
  const parts = amountFormat(locale, currency, 'short').formatToParts(amount)
  const has = (type: Intl.NumberFormatPartTypes) => parts.some((part) => part.type === type)
  const isOneDigit = parts.find((part) => part.type === 'integer')?.value.length === 1
  if (!isOneDigit || !has('compact') || has('fraction') || Math.abs(amount) < MILLION / 2)
    return parts.map(({ value }) => value).join('')
  return amountFormat(locale, currency, 'one digit').format(amount)
}

const amountFormats = new Map<string, Intl.NumberFormat>()
const DIGITS = {
  // Three digits, at most one of them behind the point: $1.2m, $12.5k, $135k.
  short: {
    notation: 'compact',
    maximumSignificantDigits: 3,
    minimumFractionDigits: 0,
    maximumFractionDigits: 1,
    roundingPriority: 'lessPrecision',
  },
  'one digit': { notation: 'compact', minimumFractionDigits: 1, maximumFractionDigits: 1 },
  exact: { minimumFractionDigits: 2, maximumFractionDigits: 2, trailingZeroDisplay: 'stripIfInteger' },
} as const satisfies Record<string, Intl.NumberFormatOptions>

/** @param currency null for a plain number: Intl refuses any code but three messages */
function amountFormat(
  locale: string,
  currency: string | null,
  digits: keyof typeof DIGITS,
): Intl.NumberFormat {
  const key = `${locale} ${currency} ${digits}`
  // "US$" is told from other dollars by those: "CA$", "A$".
  const currencyDisplay = currency === 'USD' ? 'narrowSymbol' : 'symbol'
  const format =
    amountFormats.get(key) ??
    new Intl.NumberFormat(locale, {
      ...(currency === null ? {} : { style: 'currency', currency, currencyDisplay }),
      ...DIGITS[digits],
      useGrouping: 'always',
    })
  amountFormats.set(key, format)
  return format
}
