/**
 * Writes a settings file for the first start: answers as settings, the rest as comments with their defaults.
 * Reading it gives back exactly the same values.
 */
import { stringify } from 'yaml'
import { shellCommand } from '../errors.ts'
import { nextDueTime } from '../schedule/scheduled-runs.ts'
import type { Timing } from '../schedule/timing.ts'
import { DAY_MS } from '../schedule/zone.ts'

/** An answer, or the environment variable that gives it, which is then not written to the file. */
export type Entry<Value = string> = { readonly value: Value } | { readonly variable: string }

export interface FirstSettings {
  /** A date such as `2026-11-21`. */
  readonly today: string
  readonly apiUrl: Entry
  /** The file of the API key; null where the service needs no key. */
  readonly keyFile: Entry | null
  /** The profile; null for the reference service. */
  readonly profile: Entry | null
  readonly timeZone: Entry
  /** The address of the mail server, or the file that holds it with its password. */
  readonly mail: { readonly name: 'url' | 'url_file'; readonly entry: Entry }
  readonly from: Entry
  readonly recipients: Entry<readonly string[]>
  /** The addresses of operators; empty where nobody is mailed. */
  readonly alertRecipients: Entry<readonly string[]>
  readonly report: { readonly name: string; readonly schedule: string; readonly period: string | null }
  readonly listen: Entry
  /** The file of the token; null where there is no dashboard to sign in to. */
  readonly tokenFile: Entry | null
}

export function settingsText(first: FirstSettings): string {
  const { mail, report } = first
  return `# Settings of leadsheet, as ${shellCommand('init')} wrote them on ${first.today}. ${shellCommand('config check')} shows all that
# is in force and where it came from; leadsheet.example.yaml has every setting that there is. Lines with #
# before a name show the default, or an example. Variables LEADSHEET_… win over this file; paths count from it.

# Where the leads come from.
api:
${line('  ', 'url', first.apiUrl, 'https://leads.example.com/api/v1')}
  # The key is in a file of its own, which only its owner can read.
${line('  ', 'key_file', first.keyFile, './secrets/api-key')}
  # How this upstream is asked and read, where it is not the reference service; ${shellCommand('probe')} writes it.
${line('  ', 'profile', first.profile, './profile.yaml')}

# Folder of the database, the archive of all reports and the snapshot for analysts.
#data_dir: ./data

# The zone in which reports begin and end their days, and in which schedules are read.
${line('', 'time_zone', first.timeZone, 'Europe/Berlin')}

# The mail server. An address with a password in it is in a file of its own.
smtp:
${mail.name === 'url' ? line('  ', 'url', mail.entry, 'smtp://mail.example.com:587') : line('  ', 'url_file', mail.entry, './secrets/smtp-url')}

# How mails are sent.
mail:
${line('  ', 'from', first.from, 'Lead reports <reports@example.com>')}
  # Where answers go, to the sender if absent.
  #reply_to: sales-ops@example.com
  # Many providers refuse who is faster.
  #per_minute: 120

# Who gets the reports: addresses, or groups of what each of them gets, such as their language and their leads.
${list('', 'recipients', first.recipients, ['ana@example.com'])}

# Who gets alerts: failing syncs, waiting mail, a full disk and so on.
alerts:
${list('  ', 'recipients', first.alertRecipients, ['ops@example.com'])}
  # Where the same is posted too, since a mail server that is away cannot tell of itself.
  #webhook: { url_file: ./secrets/webhook-url, format: slack }
  # A dead-man switch that raises the alarm when no sync ends well any more.
  #heartbeat: { url: https://hc-ping.com/your-uuid }

# When the leads are fetched: what has changed, and everything, which also finds those that are gone.
#sync:
#  schedule: "*/15 * * * *"
#  full_schedule: "30 3 * * *"

# The reports: daily, weekly and monthly come with leadsheet, ${shellCommand('report new')} makes others.
reports:
  - name: ${report.name}
    # Cron, or words such as every weekday at 07:00. ${shellCommand('schedule')} shows the next times.
    schedule: ${scalar(report.schedule)}
    # What it covers: day, working_day (on Mondays the weekend too), week, month or since_last (issue).
    ${report.period === null ? `#period: ${DEFAULT_PERIODS[report.name] ?? 'day'}` : `period: ${report.period}`}

# The dashboard: how all stands, past reports and what can be done about them, in a browser.
web:
${line('  ', 'listen', first.listen, '127.0.0.1:8080')}
  # What to sign in with. Without it the dashboard is only for this machine, and nothing can be done there.
${line('  ', 'token_file', first.tokenFile, './secrets/web-token')}
  # Under which address recipients reach the pages on which they pause or end what they get, and the upstream this
  # daemon, to tell it of each change at once: then ${shellCommand('webhooks register --self')}.
  #public_url: https://reports.example.com
`
}

/** The periods of the reports that come with the program. */
const DEFAULT_PERIODS: Readonly<Record<string, string>> = { weekly: 'week', monthly: 'month' }

function line(indent: string, name: string, entry: Entry | null, example: string): string {
  if (entry !== null && 'value' in entry) return `${indent}${name}: ${scalar(entry.value)}`
  return `${indent}#${name}: ${example}${givenBy(entry)}`
}

function list(
  indent: string,
  name: string,
  entry: Entry<readonly string[]>,
  example: readonly string[],
): string {
  const values = 'value' in entry && entry.value.length > 0 ? entry.value.map(scalar) : null
  if (values === null) return `${indent}#${name}: [${example.join(', ')}]${givenBy(entry)}`
  return [`${indent}${name}:`, ...values.map((value) => `${indent}  - ${value}`)].join('\n')
}

function givenBy(entry: Entry<unknown> | null): string {
  return entry !== null && 'variable' in entry ? `   # ${entry.variable} gives it` : ''
}

/** Writes a value on one line, in quotes where it needs them, and with `${` escaped. */
function scalar(value: string): string {
  return stringify(
    value.replaceAll('${', () => '$${'),
    { lineWidth: 0 },
  ).trimEnd()
}

interface FirstReport {
  readonly name: 'daily' | 'weekly' | 'monthly'
  /** The period; null for the report's own. */
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

/** The days on which the schedule is due within the next weeks, as numbers of days. */
function dueDays(timing: Timing, now: Date): number[] {
  const end = now.getTime() + WEEKS * 7 * DAY_MS
  const days = new Set<number>()
  for (let after = now; ; ) {
    const due = nextDueTime(timing, after)
    if (due === null || due.due_at.getTime() > end) return [...days]
    days.add(Math.floor(due.shownMs / DAY_MS))
    // Goes on to the next day, so that a schedule that is due all day long counts once.
    after = new Date(due.due_at.getTime() + DAY_MS - (due.shownMs % DAY_MS) - 1)
  }
}
