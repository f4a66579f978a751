/** Defines the exit statuses of the program, and the exit status and colour for each result of a check. */

import type { CheckResult } from '../checks/check.ts'
import { type ErrorCode, LeadsheetError } from '../errors.ts'
import type { Page } from './terminal/table.ts'

export const EXIT_STATUS = {
  done: { status: 0, meaning: 'done' },
  failed: { status: 1, meaning: 'failed' },
  usage: { status: 2, meaning: 'wrong usage or configuration; nothing was done' },
  partly: { status: 3, meaning: 'finished with warnings, or only partly' },
  deferred: { status: 4, meaning: 'deferred: the upstream asked for a longer wait than one run allows' },
  interrupted: { status: 130, meaning: 'stopped by Ctrl-C or a signal' },
} as const satisfies Record<string, { status: number; meaning: string }>
export type Ending = keyof typeof EXIT_STATUS

/**
 * Returns how the process ends after an error that a command threw. Any error other than a LeadsheetError is
 * a bug and counts as failed.
 */
export function endingOf(thrown: unknown): Ending {
  if (!(thrown instanceof LeadsheetError)) return 'failed'
  return ENDINGS[thrown.code] ?? (/^(config|usage)_/.test(thrown.code) ? 'usage' : 'failed')
}

const ENDINGS: { readonly [Code in ErrorCode]?: Ending } = {
  api_deferred: 'deferred',
  report_unknown: 'usage',
  run_interrupted: 'interrupted',
}

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

/** Formats a check as a line, with further lines of what was found, and the remedy, below it. */
export function checkText({ style }: Pick<Page, 'style'>, check: CheckResult): string {
  const { what, status, found, remedy } = check
  const mark = style(STATUS_COLORS[status], status.padEnd(4))
  const below = `\n${' '.repeat(22)}`
  const line = `${mark}  ${what.padEnd(14)}  ${found.replaceAll('\n', below)}`
  return remedy === null ? line : `${line}${below}${style('dim', remedy)}`
}

export function worstOf(checks: readonly CheckResult[]): CheckStatus {
  return (['fail', 'warn'] as const).find((status) => checks.some((check) => check.status === status)) ?? 'ok'
}
