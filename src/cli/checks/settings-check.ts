/** Checks which settings the running daemon uses, and whether the file has changed since. */

import { type CheckResult, ok, warn } from '../../checks/check.ts'
import type { SettingsInForce } from '../../checks/settings.ts'
import { shellCommand } from '../../errors.ts'
import { tellInstant } from '../../time.ts'

const WHAT = 'in force'

/** @param inForce is null if no daemon runs */
export function checkInForce(inForce: SettingsInForce | null): CheckResult | null {
  if (inForce === null) return null
  const { since, refused, changedAt } = inForce
  const found = `the settings of ${tellInstant(since)}`
  if (refused !== null) {
    const why = refused.why.replaceAll(/\s+/g, ' ')
    return warn(WHAT, `${found}; those of ${tellInstant(refused.at)} were refused: ${why}`, RELOAD)
  }
  if (changedAt !== null) {
    return warn(
      WHAT,
      `${found}; the file was changed at ${tellInstant(changedAt)}, and not read since`,
      RELOAD,
    )
  }
  return ok(WHAT, found)
}

const RELOAD = `${shellCommand('config check')} tries those on the disk, ${shellCommand('reload')} has the daemon go over to them`
