/** The colour of a check's status, and the ending of a command by its worst check. */
import type { CheckResult } from '../../checks/check.ts'
import type { Ending } from '../exit-status.ts'

type Verdict = CheckResult['verdict']

export const STATUS_COLORS = { ok: 'green', warn: 'yellow', fail: 'red' } as const satisfies Record<
  Verdict,
  string
>

/** A failed check gives exit status 1, a warning 3. */
export const STATUS_ENDINGS = { ok: 'done', warn: 'partly', fail: 'failed' } as const satisfies Record<
  Verdict,
  Ending
>

export function worstOf(checks: readonly CheckResult[]): Verdict {
  return (
    (['fail', 'warn'] as const).find((verdict) => checks.some((check) => check.verdict === verdict)) ?? 'ok'
  )
}
