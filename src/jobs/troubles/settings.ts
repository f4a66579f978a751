/** Whether the daemon goes by other settings than those that somebody has written. */
import { shellCommand } from '../../errors.ts'
import { readSettingsInForce } from '../schedule/config-reload-state.ts'
import { tellInstant } from '../schedule/schedule.ts'
import { minutesBefore, type Watch } from './watch.ts'

/** Time to edit on, and to have them read. */
const UNREAD_MINUTES = 60

export const WATCH_SETTINGS: Watch = {
  reasons: ['settings_old'],
  async find({ store, settingsFile }, now) {
    const inForce = await readSettingsInForce(store.db, settingsFile, now)
    if (inForce === null) return []
    const { since, refused, changedAt } = inForce
    const staying = `Those of ${tellInstant(since)} are in force.`
    const trouble = { reason: 'settings_old', subject: '' } as const
    if (refused !== null) {
      const why = refused.why.replaceAll(/\s+/g, ' ')
      return [
        {
          ...trouble,
          message: `The settings that were read at ${tellInstant(refused.at)} were refused: ${why}. ${staying}`,
          hint: `Mend them until ${shellCommand('config check')} finds no mistake, then ${shellCommand('reload')}.`,
        },
      ]
    }
    if (changedAt === null || changedAt > minutesBefore(now, UNREAD_MINUTES)) return []
    return [
      {
        ...trouble,
        message: `${settingsFile} was changed at ${tellInstant(changedAt)}, and has not been read since. ${staying}`,
        hint: `${shellCommand('reload')} has the daemon go over to them.`,
      },
    ]
  },
}
