/** Checks whether the daemon uses the settings that are on the disk now. */
import { stat } from 'node:fs/promises'
import { shellCommand } from '../errors.ts'
import type { Db } from '../store/db/store.ts'
import { isOfDaemon, listHeldLeases } from '../store/schedule/lease.ts'
import { formatUtc, minutesBefore } from '../time.ts'
import { ALERTED, type Check, type Facts, type Finding, internal, SHOWN } from './check.ts'

/** In minutes: a person may still be editing the file. */
const UNREAD_MINUTES = 60

export const SETTINGS_CHECKS = {
  settings_wrong: {
    ...SHOWN,
    part: 'settings',
    title: 'settings wrong',
    meaning: 'a part of the settings has a mistake, and was left out',
    find: async ({ settingsMistakes }) => settingsMistakes.map(mistaken),
  },
  settings_old: {
    ...ALERTED,
    part: 'settings',
    title: 'settings not in force',
    meaning: 'the settings file was changed an hour ago, without a restart of the daemon',
    find: findOld,
  },
} as const satisfies Record<string, Check>

function mistaken(mistake: string): Finding {
  return {
    subject: mistake,
    message: `Left out here: ${mistake}`,
    brief: 'the settings have a mistake',
    hint: `Correct it until ${shellCommand('config check')} finds no mistake. A daemon that runs keeps its settings.`,
  }
}

async function findOld({ db, settingsFile, now }: Facts): Promise<Finding[]> {
  const inForce = await readSettingsInForce(db, settingsFile, now)
  if (inForce === null) return []
  const { since, changedAt } = inForce
  if (changedAt === null || changedAt > minutesBefore(now, UNREAD_MINUTES)) return []
  return internal(
    `${settingsFile} was changed at ${formatUtc(changedAt)}, and has not been read since. Those of ${formatUtc(since)} are in force.`,
    `Correct them until ${shellCommand('config check')} finds no mistake, then restart the daemon.`,
  )
}

/**
 * Returns since when the settings in force are so, and the time of the last change of the settings file, which is
 * null if the daemon has read the file since. Null if no daemon runs.
 * @param file null if there is no settings file
 */
export async function readSettingsInForce(db: Db, file: string | null, now: Date) {
  const daemons = (await listHeldLeases(db, now)).filter(isOfDaemon)
  // If several daemons run, the first of them has the oldest settings.
  const since = daemons.map(({ acquired_at }) => acquired_at).toSorted()[0]
  if (since === undefined) return null
  const written = file === null ? null : await stat(file).catch(() => null)
  const changedAt = written?.mtime.toISOString() ?? ''
  return { since, changedAt: changedAt > since ? changedAt : null }
}
