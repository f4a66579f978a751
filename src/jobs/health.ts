/**
 * Whether the installation is well: one judgement from what the store says, which `status`, `doctor`, /readyz, the
 * metrics and the dashboard tell. Quick enough to be asked at any time: no network, no table that grows is read through.
 */
import { counted } from '../report/words/numbers.ts'
import { nextScheduledRun } from '../schedule/scheduled-runs.ts'
import type { Db } from '../store/db/store.ts'
import { countLeads } from '../store/leads/lead.ts'
import { checkFreshness, checkTimes, type ResourceFreshness, readFreshness } from './health/data.ts'
import { checkEvents } from './health/events.ts'
import { type HealthCheck, type Installation, type Subject, tellSpan } from './health/installation.ts'
import { checkMachine } from './health/machine.ts'
import { checkMessages, checkNotices, checkQuarantinedRecords, readOpenNotices } from './health/post.ts'
import { checkUnwatched } from './health/unwatched.ts'
import { checkSchedules, readDaemon } from './health/work.ts'

export interface Health {
  /** That of the worst check. What can be lived with for a day only warns. */
  readonly verdict: 'ok' | 'warn' | 'fail'
  /** `All is well: last sync 4 min ago, 5,706 leads, next report in 3 h`; else the worst first, and how many more. */
  readonly sentence: string
  /** In the order of their weight. */
  readonly checks: readonly HealthCheck[]
  readonly freshness: readonly ResourceFreshness[]
}

/** @throws LeadsheetError store_* where the store cannot even be read */
export async function readHealth(installation: Installation, now: Date): Promise<Health> {
  const { db } = installation.store
  const daemon = await readDaemon(db, now)
  const freshness = await readFreshness(installation, daemon.life !== 'none', now)
  const notices = await readOpenNotices(db)
  const [database, ...machine] = await checkMachine(installation, now)
  const checks = [
    ...(installation.found ?? []),
    ...(database === undefined ? [] : [database]),
    daemon.check,
    ...freshness.map((one) => checkFreshness(one, now)),
    await checkTimes(installation),
    ...(daemon.life === 'alive' ? [] : await checkUnwatched(db, now)),
    ...(installation.events === null ? [] : [await checkEvents(db, installation.events, now)]),
    ...(daemon.life === 'alive' ? [await checkSchedules(installation, now)] : []),
    await checkMessages(db, notices.known, now),
    checkNotices(notices),
    await checkQuarantinedRecords(db, now),
    ...machine,
  ]
  const wrong = (['fail', 'warn'] as const).flatMap((verdict) =>
    checks.filter((check) => check.verdict === verdict),
  )
  const sentence = wrong[0]
    ? tellWrong(
        wrong[0],
        wrong.slice(1).flatMap(({ what }) => (what === 'notices' ? notices.titles : what)),
      )
    : await tellWell(db, installation, freshness, now)
  return { verdict: wrong[0]?.verdict ?? 'ok', sentence, checks, freshness }
}

function tellWrong({ what, found }: HealthCheck, others: readonly string[]): string {
  const said = found.replace(/\.$/, '')
  const first = capitalized(NAMED.includes(what) ? `${what}: ${said}` : said)
  if (others.length === 0) return `${first}.`
  return `${first}. And ${others.length} more: ${others.join(', ')}.`
}

/** What these find says not by itself what it is about. */
const NAMED: readonly Subject[] = ['messages', 'notices']

async function tellWell(
  db: Db,
  { schedules }: Installation,
  [leads]: readonly ResourceFreshness[],
  now: Date,
): Promise<string> {
  const asOf = leads?.asOf ?? null
  const reports = schedules
    .filter(({ name }) => name.startsWith('report:'))
    .flatMap(({ timing }) => nextScheduledRun(timing, now)?.getTime() ?? [])
  const parts = [
    asOf === null ? null : `last sync ${tellSpan(now.getTime() - Date.parse(asOf))} ago`,
    counted(await countLeads(db), 'lead'),
    reports.length === 0 ? null : `next report in ${tellSpan(Math.min(...reports) - now.getTime())}`,
  ]
  return `All is well: ${parts.filter((part) => part !== null).join(', ')}`
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
