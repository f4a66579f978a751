/** Maps the status of a check to a colour, and the status of a command's worst check to an exit status. */
import type { CheckResult } from '../../checks/check.ts'
import type { Ending } from '../exit-status.ts'

type CheckStatus = CheckResult['status']

export const STATUS_COLORS = { ok: 'green', warn: 'yellow', fail: 'red' } as const satisfies Record<
  CheckStatus,
  string
>

/** A failed check gives exit status 1, a warning 3. */
export const STATUS_ENDINGS = { ok: 'done', warn: 'partly', fail: 'failed' } as const satisfies Record<
  CheckStatus,
  Ending
>

export function worstOf(checks: readonly CheckResult[]): CheckStatus {
  return (['fail', 'warn'] as const).find((status) => checks.some((check) => check.status === status)) ?? 'ok'
}
