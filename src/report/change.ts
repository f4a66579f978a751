/** Formats changes. The tone shows whether the direction is good. */
import type { Compared, Money, Ratio } from '../domain/model.ts'
import type { LocaleContext } from './words/locale-context.ts'
import { FEW, signed } from './words/numbers.ts'

export type Tone = 'good' | 'bad' | 'neutral'

/** The direction in which a number is unusual; null if the number is normal or not judged. */
export type News = 'high' | 'low' | null

export interface Change {
  readonly text: string
  readonly tone: Tone
}

/** The direction that is good news; null if neither direction is. */
type Welcome = 'up' | 'down' | null

/** Formats `+9 (+18%)`, without percentage below {@link FEW}, and with `(new)` if the earlier count is 0. */
export function changeOfCount(compared: Compared<number>, welcome: Welcome, locale: LocaleContext): Change {
  const { current, prior } = compared
  const percent = Math.max(current, prior) < FEW ? null : percentOf(current, prior, locale)
  return change(current - prior, locale.numbers.count, percent, welcome, locale)
}

/**
 * Subtracts rounded rates, as they are printed. Null if one of the rates is of fewer than {@link FEW} leads.
 */
export function changeOfRate(
  compared: Compared<Ratio>,
  welcome: Welcome,
  locale: LocaleContext,
): Change | null {
  if (compared.current.whole < FEW || compared.prior.whole < FEW) return null
  const [current, prior] = [compared.current, compared.prior].map(({ part, whole }) =>
    Math.round((part / whole) * 1000),
  )
  const tenths = (current ?? 0) - (prior ?? 0)
  const write = (size: number) => locale.words('points', { size: locale.numbers.decimal(size / 10, 1) })
  return change(tenths, write, null, welcome, locale)
}

/** Formats `+$90k`, in the first currency. Returns null if there is no amount. */
export function changeOfMoney(
  compared: Compared<readonly Money[]>,
  welcome: Welcome,
  locale: LocaleContext,
): Change | null {
  const currency = (compared.current[0] ?? compared.prior[0])?.currency
  if (currency === undefined) return null
  const amountIn = (moneys: readonly Money[]) =>
    moneys.find((money) => money.currency === currency)?.amount ?? 0
  const [current, prior] = [amountIn(compared.current), amountIn(compared.prior)]
  const write = (amount: number) => locale.numbers.money({ amount, currency })
  return change(current - prior, write, null, welcome, locale)
}

/** `neutral` unless the number is unusual in the same direction, because the change may be chance. */
export function toneOfNews({ tone }: Pick<Change, 'tone'>, news: News): Tone {
  return (tone === 'good' && news === 'high') || (tone === 'bad' && news === 'low') ? tone : 'neutral'
}

/** Formats `+18%`, or `new` if the prior value is 0. Returns null for a change of less than 0.5%. */
function percentOf(current: number, prior: number, locale: LocaleContext): string | null {
  if (current === prior) return null
  if (prior === 0) return locale.words('isNew')
  const share = (current - prior) / Math.abs(prior)
  if (Math.abs(share) < 0.005) return null
  return signed(share, (size) => locale.numbers.percent(size))
}

function change(
  difference: number,
  write: (size: number) => string,
  percent: string | null,
  welcome: Welcome,
  locale: LocaleContext,
): Change {
  if (difference === 0) return { text: locale.words('noChange'), tone: 'neutral' }
  const direction = difference > 0 ? 'up' : 'down'
  return {
    text: signed(difference, write) + (percent === null ? '' : ` (${percent})`),
    tone: welcome === null ? 'neutral' : welcome === direction ? 'good' : 'bad',
  }
}
