/**
 * Numbers and amounts as a locale writes them. Rates are 0 to 1 here; the minus is a real one, U+2212, and what
 * belongs together has a no-break space.
 */
import type { Money } from '../model.ts'
import { oneLine } from './text.ts'

/** Below this many, a percentage says less than the counts. */
export const FEW = 10

const CURRENCY_LENGTH = 12

export interface Numbers {
  /** `1,284` */
  readonly count: (count: number) => string
  /** `3.5`, with as many digits behind the point as are asked for at most. */
  readonly decimal: (value: number, digits: number) => string
  /** `23.7%` */
  readonly rate: (rate: number) => string
  /** `18%`, also more than 100% */
  readonly percent: (share: number) => string
  /** `88%`; a share that is not quite none or all is not rounded to it. */
  readonly share: (share: number) => string
  /** `$1.2m`, `€300k`, `CHF 950`; a code that is none of ISO 4217's stands behind: `950 credits`. */
  readonly money: (money: Money) => string
}

const known = new Map<string, Numbers>()

/** @param locale BCP 47, such as `de-CH` */
export function numbersOf(locale: string): Numbers {
  const found = known.get(locale) ?? createNumbers(locale)
  known.set(locale, found)
  return found
}

/** `+9`, `−3`, `±0` */
export function signed(difference: number, write: (size: number) => string): string {
  if (difference === 0) return '±0'
  return (difference > 0 ? '+' : '−') + write(Math.abs(difference))
}

function createNumbers(locale: string): Numbers {
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
  const decimals = [0, 1, 2].map((digits) => new Intl.NumberFormat(locale, { maximumFractionDigits: digits }))
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 })
  const permille = new Intl.NumberFormat(locale, {
    style: 'percent',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  })
  const amounts = new Map<string | null, Intl.NumberFormat>()
  const amountOf = (currency: string | null): Intl.NumberFormat => {
    const format = amounts.get(currency) ?? amountFormat(locale, currency)
    amounts.set(currency, format)
    return format
  }
  return {
    count: (count) => minus(whole.format(count)),
    decimal: (value, digits) => minus((decimals[digits] ?? whole).format(value)),
    rate: (rate) => minus(permille.format(rate)),
    percent: (share) => minus(percent.format(share)),
    share(share) {
      if (share > 0 && share < 0.01) return `<${percent.format(0.01)}`
      if (share < 1 && share > 0.99) return `>${percent.format(0.99)}`
      return minus(percent.format(share))
    },
    money({ amount, currency }) {
      const isCode = /^[A-Za-z]{3}$/.test(currency)
      const written = minus(amountOf(isCode ? currency.toUpperCase() : null).format(amount))
      return isCode ? written : `${written}\u00a0${oneLine(currency, CURRENCY_LENGTH)}`.trim()
    },
  }
}

function minus(text: string): string {
  return text.replace('-', '−')
}

/** Intl refuses any code but three letters, hence null for the others. */
function amountFormat(locale: string, currency: string | null): Intl.NumberFormat {
  return new Intl.NumberFormat(locale, {
    // "US$" is told from other dollars by those: "CA$", "A$".
    ...(currency === null
      ? {}
      : { style: 'currency', currency, currencyDisplay: currency === 'USD' ? 'narrowSymbol' : 'symbol' }),
    notation: 'compact',
    // Three digits, at most one of them behind the point: $1.2m, $12.5k, $135k.
    maximumSignificantDigits: 3,
    minimumFractionDigits: 0,
    maximumFractionDigits: 1,
    roundingPriority: 'lessPrecision',
  })
}
