/**
 * The calendar of a time zone, by Intl alone: which local date an instant lies in, and when that date begins.
 * A date is a number of days since 1970-01-01, so that calendar arithmetic never meets a clock change.
 */

const DAY_MS = 86_400_000
const clocks = new Map<string, Intl.DateTimeFormat>()

/** The local date of an instant, in days since 1970-01-01. */
export function localDay(atMs: number, timeZone: string): number {
  return Math.floor(wallMs(atMs, timeZone) / DAY_MS)
}

/**
 * The first instant of a local date, in ms. Midnight that does not exist: the first instant after the gap.
 * Midnight that comes twice: its first occurrence. A date that a zone left out is empty: it begins where the next does.
 */
export function startOfDay(day: number, timeZone: string): number {
  const midnight = day * DAY_MS
  const offsets = [midnight - DAY_MS, midnight + DAY_MS].map((atMs) => wallMs(atMs, timeZone) - atMs)
  const candidates = offsets.map((offset) => midnight - offset)
  const real = candidates.filter((atMs) => wallMs(atMs, timeZone) === midnight)
  return real.length > 0 ? Math.min(...real) : endOfGap(day, timeZone)
}

/** The date whose span holds the instant; differs from {@link localDay} where a clock is put back over midnight. */
export function dayHolding(atMs: number, timeZone: string): number {
  const day = localDay(atMs, timeZone)
  return startOfDay(day + 1, timeZone) <= atMs ? day + 1 : day
}

/** Bisects to the instant at which the clock jumps over midnight into the date, or past it. */
function endOfGap(day: number, timeZone: string): number {
  let before = day * DAY_MS - 2 * DAY_MS
  let after = day * DAY_MS + 2 * DAY_MS
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (localDay(middle, timeZone) < day) before = middle
    else after = middle
  }
  return after
}

/** What the local clock shows, read as if it were UTC, in ms. */
export function wallMs(atMs: number, timeZone: string): number {
  const parts = clockOf(timeZone).formatToParts(atMs)
  const read = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((part) => part.type === type)?.value)
  const wholeSeconds = Date.UTC(
    read('year'),
    read('month') - 1,
    read('day'),
    read('hour'),
    read('minute'),
    read('second'),
  )
  return wholeSeconds + (((atMs % 1000) + 1000) % 1000)
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone)
  if (known) return known
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  clocks.set(timeZone, clock)
  return clock
}
