/**
 * The clock of a program that is run as a process: `env: { ...clockAt('2026-11-24T07:00:00Z') }` has it begin with
 * that instant. Node loads this file before the program, which knows nothing of it.
 */

/** For the environment of a program that is about to be started, and of those that it starts. */
export function clockAt(instant: string): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${import.meta.filename}`,
    CLOCK_AHEAD_MS: String(Date.parse(instant) - Date.now()),
  }
}

/** As {@link clockAt}, and for the program no time passes: whoever does the same does it at the same instant. */
export function clockStandingAt(instant: string): Record<string, string> {
  return { ...clockAt(instant), CLOCK_STANDS_AT_MS: String(Date.parse(instant)) }
}

shiftClock(process.env)

type ClockEnvironment = Readonly<Record<string, string | undefined>>

/** From now on, for this process; as the environment says, if it says so. */
export function shiftClock({ CLOCK_AHEAD_MS, CLOCK_STANDS_AT_MS }: ClockEnvironment): void {
  if (CLOCK_AHEAD_MS === undefined) return
  const RealDate = Date
  const now = (): number => Number(CLOCK_STANDS_AT_MS ?? RealDate.now() + Number(CLOCK_AHEAD_MS))
  globalThis.Date = new Proxy(RealDate, {
    construct: (real, given, target) => Reflect.construct(real, given.length === 0 ? [now()] : given, target),
    apply: () => new RealDate(now()).toString(),
    get: (real, name) => (name === 'now' ? now : Reflect.get(real, name)),
  })
}
