/** Whether events of the upstream come, and are followed. */
import { LeadsheetError } from '../../errors.ts'
import { counted } from '../../report/words/numbers.ts'
import type { Db } from '../../store/db/store.ts'
import { countRecentEvents, countWaitingEvents, findLastArrival } from '../../store/events/event-stats.ts'
import { ok, warn } from '../../upstream/checkup.ts'
import type { EventSource } from '../events/event-source.ts'
import { countIn, findEventTroubles } from '../troubles/events.ts'
import { type HealthCheck, tellSpan } from './installation.ts'

export async function checkEvents(db: Db, way: EventSource, now: Date): Promise<HealthCheck> {
  try {
    const [worst, ...others] = await findEventTroubles(db, way, now)
    if (worst !== undefined) {
      return warn('events', [worst, ...others].map(({ message }) => message).join(' '), worst.hint)
    }
    return ok('events', await tellArrivals(db, way, now))
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || thrown.code !== 'webhook_unreadable') throw thrown
    return warn('events', thrown.message, thrown.hint ?? '')
  }
}

async function tellArrivals(db: Db, way: EventSource, now: Date): Promise<string> {
  const lastAt = await findLastArrival(db, 'any')
  if (lastAt !== null) {
    const recent = countIn(await countRecentEvents(db, now))
    const { toRead } = await countWaitingEvents(db)
    const waiting = toRead === 0 ? '' : `, ${toRead.toLocaleString('en')} to be read`
    return `the last one came ${tellSpan(now.getTime() - Date.parse(lastAt))} ago, ${counted(recent, 'event')} of the last 24 hours followed${waiting}`
  }
  const registration = await way.readRegistration()
  if (registration !== null) {
    return `none has come since the webhook was registered, ${tellSpan(now.getTime() - Date.parse(registration.registeredAt))} ago`
  }
  return way.isByHand ? 'none has come yet' : 'no webhook is registered: changes come with each sync'
}
