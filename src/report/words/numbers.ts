/** Formats for a locale. The minus sign is U+2212, and no-break spaces keep an amount together. */
import type { Money } from '../../domain/model.ts'
import { oneLine } from './clean-text.ts'

/** With fewer leads than this, a rate is shown as counts such as `2 of 7`. A percentage would say less. */
export const FEW = 10

const CURRENCY_LENGTH = 12
const MILLION = 1_000_000
// Numbers of at least this size are written like `1e+60`. Only smaller numbers are formatted for the locale.
const ROOM_FOR = 1e18

export interface Numbers {
  /** Formats `1,284`. */
  readonly count: (count: number) => string
  /** Formats `3.5`, with at most `digits` decimals. */
  readonly decimal: (value: number, digits: number) => string
  /** Formats `3.0`, with exactly `digits` decimals. */
  readonly fixed: (value: number, digits: 1 | 2) => string
  /** Formats `23.7%`. */
  readonly rate: (rate: number) => string
  /** Formats `18%` or, for a share above 1, `118%`. */
  readonly percent: (share: number) => string
  /** Formats `88%`. A share that is almost 0 or almost 1 becomes `<1%` or `>99%`. */
  readonly share: (share: number) => string
  /** Formats `$1.2m`, `€300k`, `CHF 950`. A currency that is not three letters follows: `950 credits`. */
  readonly money: (money: Money) => string
  /** Formats `€1,304,250.50`, to show a difference that rounding would hide. */
  readonly exactMoney: (money: Money) => string
  /** Formats `23.68%`, to show a difference that rounding would hide. */
  readonly exactRate: (rate: number) => string
}

const known = new Map<string, Numbers>()

/** The locale is a BCP 47 tag, such as `de-CH`. */
export function numbersOf(locale: string): Numbers {
  const found = known.get(locale) ?? createNumbers(locale)
  known.set(locale, found)
  return found
}

/** Formats `5,706` without Intl, because loading it takes 8 ms and most commands need it for nothing else. */
export function englishCount(count: number): string {
  const digits = String(Math.abs(count))
  const groups: string[] = []
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end))
  return `${count < 0 ? '-' : ''}${groups.join(',')}`
}

/** Formats an English count for operators: `1 lead`, `5,706 leads`. */
export function counted(count: number, noun: string): string {
  return `${englishCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Formats a difference: `+9`, `−3`, `±0`. */
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

/** Formats a number. A huge number is written like `1e+60`, so that it fits into a column. */
function inRoom(value: number, format: Pick<Intl.NumberFormat, 'format'>): string {
  return minus(Math.abs(value) < ROOM_FOR ? format.format(value) : String(value))
}

function minus(text: string): string {
  return text.replace('-', '−')
}

/** Formats an amount. A currency that is not three letters, such as `credits`, follows the amount. */
function writeMoney({ currency }: Money, write: (code: string | null) => string): string {
  if (/^[A-Za-z]{3}$/.test(currency)) return minus(write(currency.toUpperCase()))
  return `${minus(write(null))}\u00a0${oneLine(currency, CURRENCY_LENGTH)}`.trim()
}

/** Formats an amount in short form. Millions of one digit always have a decimal: `$4.0m` beside `$4.2m`. */
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
  // The short form has up to three digits, at most one of them a decimal: $1.2m, $12.5k, $135k.
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

/** A currency that is not three letters must be null, because Intl does not accept it. */
function amountFormat(
  locale: string,
  currency: string | null,
  digits: keyof typeof DIGITS,
): Intl.NumberFormat {
  const key = `${locale} ${currency} ${digits}`
  // US dollars are shown as "$", because other dollars have longer symbols such as "CA$" and "A$".
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
