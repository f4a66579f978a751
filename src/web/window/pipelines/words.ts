/** How the pages of pipelines write numbers: a dash stands for what there is not. */
import type { Money, Ratio } from '../../../model.ts'
import { FEW } from '../../../report/numbers.ts'
import { oneLine } from '../../../report/text.ts'
import { count, numbers } from '../numbers.ts'

export const NONE = '–'

const NAME_LENGTH = 80
const CURRENCIES = 3

/** `24%`; of few `3 of 7`, since a percentage would say too much. */
export function share({ part, whole }: Ratio): string {
  if (whole === 0) return NONE
  return whole < FEW ? `${count(part)} of ${count(whole)}` : numbers.percent(part / whole)
}

/** `€1.2m, US$300k`, that of most leads first. */
export function moneys(values: readonly Money[]): string {
  const there = values.filter(({ amount }) => amount !== 0)
  const told = there.slice(0, CURRENCIES).map(numbers.money)
  return [...told, ...(there.length > CURRENCIES ? [`${there.length - CURRENCIES} more`] : [])].join(', ')
}

export function nameOf(text: string): string {
  return oneLine(text, NAME_LENGTH)
}
