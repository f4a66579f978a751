/**
 * Sets the clock of a program that runs as a process. With `env: { ...clockAt('2026-11-24T07:00:00Z') }` it
 * starts at that instant. Node loads this file before the program, which does not notice.
 */

/** Returns environment variables that set the clock of a program and of the programs that it starts. */
export function clockAt(instant: string): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${import.meta.filename}`,
    CLOCK_AHEAD_MS: String(Date.parse(instant) - Date.now()),
  }
}

/** Works like {@link clockAt}, but time stands still for the program. */
export function clockStandingAt(instant: string): Record<string, string> {
  return { ...clockAt(instant), CLOCK_STANDS_AT_MS: String(Date.parse(instant)) }
}

shiftClock(process.env)

type ClockEnvironment = Readonly<Record<string, string | undefined>>

/** Sets the clock of this process if the environment asks for it. */
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
