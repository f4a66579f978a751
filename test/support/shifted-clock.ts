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

const { CLOCK_AHEAD_MS } = process.env
if (CLOCK_AHEAD_MS !== undefined) shiftClock(Number(CLOCK_AHEAD_MS))

/** From now on, for this process. */
export function shiftClock(aheadMs: number): void {
  const RealDate = Date
  const now = (): number => RealDate.now() + aheadMs
  globalThis.Date = new Proxy(RealDate, {
    construct: (real, given, target) => Reflect.construct(real, given.length === 0 ? [now()] : given, target),
    apply: () => new RealDate(now()).toString(),
    get: (real, name) => (name === 'now' ? now : Reflect.get(real, name)),
  })
}
