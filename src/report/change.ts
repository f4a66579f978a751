/**
 * How a value moved against the period it is compared with. Direction and goodness are two things: the arrow
 * says which way, the tone whether that is welcome.
 */
import type { Compared, Money, Ratio } from '../model.ts'
import { FEW, formatCount, formatMoney, formatSigned } from './format.ts'
import { words } from './messages.ts'

export type Tone = 'good' | 'bad' | 'neutral'

export interface Change {
  readonly arrow: '▲' | '▼' | ''
  readonly text: string
  readonly tone: Tone
}

/** Which direction is welcome; null where neither is. */
export type Welcome = 'up' | 'down' | null

/** `+9 (+18%)`; without the percentage below {@link FEW}, and `(new)` where it would be infinite. */
export function changeOfCount(compared: Compared<number>, welcome: Welcome): Change {
  const { current, prior } = compared
  const percent = Math.max(current, prior) < FEW ? null : percentOf(current, prior)
  return change(current - prior, formatCount, percent, welcome)
}

/** `−2.3 pt`, from the rates as they are printed, so that the difference can be checked by eye. */
export function changeOfRate(compared: Compared<Ratio>, welcome: Welcome): Change | null {
  if (compared.current.whole < FEW || compared.prior.whole < FEW) return null
  const [current, prior] = [compared.current, compared.prior].map(({ part, whole }) =>
    Math.round((part / whole) * 1000),
  )
  const tenths = (current ?? 0) - (prior ?? 0)
  return change(tenths, (size) => words.points((size / 10).toFixed(1)), null, welcome)
}

/** Compares the largest current amount with the same currency before: `+$90k (+8%)`. Null when there is none. */
export function changeOfMoney(compared: Compared<readonly Money[]>, welcome: Welcome): Change | null {
  const currency = (compared.current[0] ?? compared.prior[0])?.currency
  if (currency === undefined) return null
  const amountIn = (moneys: readonly Money[]) =>
    moneys.find((money) => money.currency === currency)?.amount ?? 0
  const [current, prior] = [amountIn(compared.current), amountIn(compared.prior)]
  return change(
    current - prior,
    (amount) => formatMoney({ amount, currency }),
    percentOf(current, prior),
    welcome,
  )
}

/** `+18%`, `new` for a prior of 0, null for no change. */
export function percentOf(current: number, prior: number): string | null {
  if (current === prior) return null
  if (prior === 0) return words.isNew
  const percent = ((current - prior) / Math.abs(prior)) * 100
  if (Math.abs(percent) < 0.5) return null
  return formatSigned(Math.round(percent), (size) => `${formatCount(size)}%`)
}

function change(
  difference: number,
  format: (size: number) => string,
  percent: string | null,
  welcome: Welcome,
): Change {
  if (difference === 0) return { arrow: '', text: words.noChange, tone: 'neutral' }
  const direction = difference > 0 ? 'up' : 'down'
  return {
    arrow: direction === 'up' ? '▲' : '▼',
    text: formatSigned(difference, format) + (percent === null ? '' : ` (${percent})`),
    tone: welcome === null ? 'neutral' : welcome === direction ? 'good' : 'bad',
  }
}
