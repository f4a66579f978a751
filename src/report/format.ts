/** Numbers and amounts as they stand in a mail. Rates are 0 to 1 here; the minus is a real one, U+2212. */
import type { Money, Ratio } from '../model.ts'
import { oneLine } from './text.ts'

const LOCALE = 'en-US'
/** Below this many, a percentage says less than the counts. */
export const FEW = 10
/** Currencies named beside the largest; the others are only counted. */
const OTHER_CURRENCIES = 2

const whole = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 })
const amounts = new Map<string | null, Intl.NumberFormat>()

/** `1,284` */
export function formatCount(count: number): string {
  return minus(whole.format(count))
}

/** `23.7%` */
export function formatRate(rate: number): string {
  return `${(rate * 100).toFixed(1)}%`
}

/** `88%`; a share that is not quite none or all is not rounded to it. */
export function formatShare(share: number): string {
  if (share > 0 && share < 0.01) return '<1%'
  if (share < 1 && share > 0.99) return '>99%'
  return `${Math.round(share * 100)}%`
}

/** `9 of 38`, the form for few. */
export function formatCounts(ratio: Ratio): string {
  return `${formatCount(ratio.part)} of ${formatCount(ratio.whole)}`
}

/** `$1.2M`, `€300k`, `CHF 950`; a code that is none of ISO 4217's stands behind: `950 credits`. */
export function formatMoney(money: Money): string {
  const isCode = /^[A-Za-z]{3}$/.test(money.currency)
  const amount = amountFormat(isCode ? money.currency : null)
    .formatToParts(money.amount)
    .map(({ type, value }) => (type === 'compact' && value === 'K' ? 'k' : value))
    .join('')
  return minus(isCode ? amount : `${amount} ${oneLine(money.currency, 12)}`.trim())
}

/** The largest amount, and the others as `+ €300k, £20k` or null. */
export function formatMoneys(moneys: readonly Money[]): { largest: string | null; others: string | null } {
  const [first, ...rest] = moneys.filter((money) => money.amount !== 0)
  if (!first) return { largest: null, others: null }
  const named = rest.slice(0, OTHER_CURRENCIES).map(formatMoney)
  const unnamed = rest.length - named.length
  const others = [...named, ...(unnamed > 0 ? [`${unnamed} more`] : [])].join(', ')
  return { largest: formatMoney(first), others: others ? `+ ${others}` : null }
}

/** `+9`, `−3`, `±0` */
export function formatSigned(difference: number, format: (size: number) => string): string {
  if (difference === 0) return '±0'
  return (difference > 0 ? '+' : '−') + format(Math.abs(difference))
}

function minus(text: string): string {
  return text.replace('-', '−')
}

/** Intl refuses any code but three letters, hence null for the others. */
function amountFormat(currency: string | null): Intl.NumberFormat {
  const known = amounts.get(currency)
  if (known) return known
  const format = new Intl.NumberFormat(LOCALE, {
    ...(currency === null ? {} : { style: 'currency', currency }),
    notation: 'compact',
    // Three digits, at most one of them behind the point: $1.2M, $12.5k, $135k.
    maximumSignificantDigits: 3,
    minimumFractionDigits: 0,
    maximumFractionDigits: 1,
    roundingPriority: 'lessPrecision',
  })
  amounts.set(currency, format)
  return format
}
