/**
 * Writes a settings file for the first start: the answers as settings, all other settings as comments with
 * their defaults. Reading the file gives back exactly the same values.
 */
import { shellCommand } from '../errors.ts'
import { nextDueTime } from '../schedule/scheduled-runs.ts'
import type { Timing } from '../schedule/timing.ts'
import { DAY_MS } from '../schedule/zone.ts'
import { type Entry, settingsYaml } from './settings-yaml.ts'

export interface FirstSettings {
  /** A date such as `2026-11-21`. */
  readonly today: string
  readonly apiUrl: Entry
  /** The file of the API key; null if the service needs no key. */
  readonly keyFile: Entry | null
  /** The profile; null for the reference service. */
  readonly profile: Entry | null
  readonly timeZone: Entry
  /** The address of the mail server, or the file that holds it with its password. */
  readonly mail: { readonly name: 'url' | 'url_file'; readonly entry: Entry }
  readonly from: Entry
  readonly recipients: Entry<readonly string[]>
  /** The addresses of operators who get alerts by mail; empty if there are none. */
  readonly alertRecipients: Entry<readonly string[]>
  readonly report: { readonly name: string; readonly schedule: string; readonly period: string | null }
  readonly listen: Entry
  /** The file of the token; null if there is no dashboard to sign in to. */
  readonly tokenFile: Entry | null
}

export function settingsText(first: FirstSettings): string {
  const { mail, report } = first
  const opening = `# Settings of leadsheet, as ${shellCommand('init')} wrote them on ${first.today}. ${shellCommand('config check')} shows all that
# is in force and where it came from; leadsheet.example.yaml has every setting that there is. Lines with #
# before a name show the default, or an example. Variables LEADSHEET_… win over this file; paths count from it.
#
# ${shellCommand('schedule')} shows the next scheduled runs; ${shellCommand('report new')} makes another report.
# With web.public_url, ${shellCommand('webhooks register --self')} makes the service send its events.`
  const period =
    report.period === null ? { example: DEFAULT_PERIODS[report.name] ?? 'day' } : { value: report.period }
  return settingsYaml(opening, {
    'api.url': escaped(first.apiUrl),
    'api.key_file': escaped(first.keyFile),
    'api.profile': escaped(first.profile),
    data_dir: null,
    time_zone: escaped(first.timeZone),
    [`smtp.${mail.name}`]: escaped(mail.entry),
    'mail.from': escaped(first.from),
    'mail.reply_to': null,
    'mail.per_minute': null,
    'alerts.recipients': escaped(first.alertRecipients),
    'alerts.webhook': { example: { url_file: './secrets/webhook-url', format: 'slack' } },
    'alerts.heartbeat': { example: { url: 'https://hc-ping.com/your-uuid' } },
    'web.listen': escaped(first.listen),
    'web.public_url': null,
    'web.token_file': escaped(first.tokenFile),
    recipients: escaped(first.recipients),
    'sync.schedule': null,
    'sync.full_schedule': null,
    'reports[0].name': { value: report.name },
    'reports[0].schedule': escaped({ value: report.schedule }),
    'reports[0].period': period,
  })
}

/** The periods of the weekly and the monthly report that come with the program. */
const DEFAULT_PERIODS: Readonly<Record<string, string>> = { weekly: 'week', monthly: 'month' }

/** Escapes `${` in the values, because it would be read as the start of a variable. */
function escaped(entry: Entry | Entry<readonly string[]> | null): Entry<unknown> | null {
  if (entry === null || !('value' in entry)) return entry
  const { value } = entry
  const escapeOne = (text: string) => text.replaceAll('${', () => '$${')
  return { value: typeof value === 'string' ? escapeOne(value) : value.map(escapeOne) }
}

interface FirstReport {
  readonly name: 'daily' | 'weekly' | 'monthly'
  /** The period; null if the report's own period fits. */
  readonly period: 'day' | 'working_day' | 'since_last' | null
}

const WEEKS = 8

/**
 * Chooses the first report for a schedule, by the days on which it is due.
 * @param timing a valid schedule
 */
export function reportFor(timing: Timing, now: Date): FirstReport {
  const days = dueDays(timing, now)
  const weekdays = new Set(days.map((day) => new Date(day * DAY_MS).getUTCDay()))
  const hasWeekend = weekdays.has(0) || weekdays.has(6)
  if (days.length <= 2) return { name: 'monthly', period: null }
  if (weekdays.size === 1 && days.length >= WEEKS - 1) return { name: 'weekly', period: null }
  if (weekdays.size === 7 && days.length >= 7 * WEEKS - 1) return { name: 'daily', period: 'day' }
  if (!hasWeekend && days.length >= 5 * WEEKS - 1) return { name: 'daily', period: 'working_day' }
  return { name: 'daily', period: 'since_last' }
}

/** Returns the days on which the schedule is due within the next `WEEKS` weeks, as days since 1970-01-01. */
function dueDays(timing: Timing, now: Date): number[] {
  const end = now.getTime() + WEEKS * 7 * DAY_MS
  const days = new Set<number>()
  for (let after = now; ; ) {
    const due = nextDueTime(timing, after)
    if (due === null || due.due_at.getTime() > end) return [...days]
    days.add(Math.floor(due.shownMs / DAY_MS))
    // The search goes on at the next day, so that a schedule that is due many times a day counts once for
    // each day.
    after = new Date(due.due_at.getTime() + DAY_MS - (due.shownMs % DAY_MS) - 1)
  }
}
