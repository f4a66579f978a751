/** Composes the preference page. On this page, a recipient sees which reports they get and changes that. */
import type { LeadFilter, PeriodKind } from '../../domain/figures.ts'
import type { Instant } from '../../domain/model.ts'
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import type { Timing } from '../../schedule/timing.ts'
import { DAY_MS, localDay, weekdayOf } from '../../schedule/zone.ts'
import { nameCondition } from '../blocks/headline/view.ts'
import { createCompiler, readTemplateFiles } from '../render/template-files.ts'
import { oneLine } from '../words/clean-text.ts'
import type { LocaleContext } from '../words/locale-context.ts'

/** `stop` is permanent; `pause` lasts until the recipient resumes. */
export const PREFERENCE_CHOICES = ['pause', 'resume', 'start', 'stop'] as const
export type PreferenceChoice = (typeof PREFERENCE_CHOICES)[number]

interface PreferenceFacts {
  readonly address: string
  readonly title: string
  readonly state: 'active' | 'paused' | 'unsubscribed'
  /** The time and the author of the last change; null if the preference was never changed. */
  readonly changed: { readonly at: Instant; readonly by: 'recipient' | 'operator' | 'leadsheet' } | null
  /** The facts about the recipient in the settings; null if the settings no longer list the recipient. */
  readonly listed: ListedFacts | null
  readonly done: PreferenceChoice | null
}

interface ListedFacts {
  readonly kind: PeriodKind
  readonly filter: LeadFilter
  readonly attachments: readonly string[]
  /** The next scheduled runs, from `listDueTimes`. */
  readonly dueTimes: readonly Instant[]
}

export type PreferenceView = ReturnType<typeof composePreferencePage>

export const CHOICE_FIELD = 'choice'
/** The form field that mail programs send for one-click unsubscribing (RFC 8058, section 3.1). */
export const ONE_CLICK = { name: 'List-Unsubscribe', value: 'One-Click' } as const

const TITLE_LENGTH = 80
const TEXT_LENGTH = 254

export function composePreferencePage(facts: PreferenceFacts, locale: LocaleContext) {
  const { words } = locale
  const { listed, state, done } = facts
  return {
    lang: locale.tag,
    about: words('preferences.about'),
    title: oneLine(facts.title, TITLE_LENGTH),
    address: oneLine(facts.address, TEXT_LENGTH),
    done: done && words(`preferences.done.${done}`),
    state: formatState(facts, locale),
    facts: listed === null || state === 'unsubscribed' ? [] : listFacts(facts, listed, locale),
    actions: offeredChoices(facts).map((choice) => ({
      field: choice === 'stop' ? ONE_CLICK : { name: CHOICE_FIELD, value: choice },
      text: words(`preferences.actions.${choice}`),
      hint: words(`preferences.hints.${listed === null ? 'unlisted' : choice}`),
    })),
    note: words('preferences.private'),
  }
}

function formatState(facts: PreferenceFacts, { words, dates }: LocaleContext): string {
  const { changed } = facts
  const since = changed === null ? '' : dates.instant(changed.at)
  if (facts.state === 'unsubscribed') return words('preferences.state.unsubscribed', { since })
  if (facts.listed === null) return words('preferences.state.unlisted')
  if (facts.state === 'active') return words('preferences.state.active')
  return words(`preferences.state.paused.${changed?.by ?? 'recipient'}`, { since })
}

/** Only operators add recipients, so one who is not in the settings can only choose `stop`. */
function offeredChoices({ state, listed }: PreferenceFacts): readonly PreferenceChoice[] {
  if (listed === null) return state === 'unsubscribed' ? [] : ['stop']
  if (state === 'unsubscribed') return ['start']
  return state === 'paused' ? ['resume', 'stop'] : ['pause', 'stop']
}

function listFacts(
  { state }: PreferenceFacts,
  { kind, filter, attachments, dueTimes }: ListedFacts,
  locale: LocaleContext,
) {
  const { words, and, dates } = locale
  const when = formatDueTimes(dueTimes, locale)
  const [next] = dueTimes
  const values = {
    when: when && words('preferences.inZone', { text: when, zone: locale.timeZone }),
    next: state === 'active' && next !== undefined ? dates.instant(next) : null,
    covers: words(`preferences.covered.${kind}`),
    leads: formatFilter(filter, locale),
    files: and(attachments) || null,
  }
  return (['when', 'next', 'covers', 'leads', 'files'] as const).flatMap((fact) => {
    const value = values[fact]
    return value === null ? [] : [{ name: words(`preferences.facts.${fact}`), value }]
  })
}

function formatFilter({ pipelineIds, conditions }: LeadFilter, locale: LocaleContext): string {
  const { words, and } = locale
  const parts = [
    ...(pipelineIds === null
      ? []
      : [words('preferences.pipelines', { names: and(pipelineIds.map((id) => oneLine(id, TEXT_LENGTH))) })]),
    ...conditions.map((condition) => nameCondition(condition, locale)),
  ]
  return parts.length === 0 ? words('preferences.allLeads') : oneLine(parts.join('; '), TEXT_LENGTH)
}

// The number of days after today that are examined to see whether a schedule repeats weekly.
const DAYS_SHOWN = 28
// The maximum number of times of day that are named. If there are more, they are only counted.
const CLOCKS_NAMED = 4
// The maximum number of scheduled runs that are listed. It keeps the list short if a report is sent very
// often.
const TIMES_MAX = 400

/** Lists the times of the scheduled runs in the next 30 days, but at most `TIMES_MAX` of them. */
export function listDueTimes(timing: Timing, now: Date): Instant[] {
  const until = now.getTime() + (DAYS_SHOWN + 2) * DAY_MS
  const times: Instant[] = []
  let next = nextScheduledRun(timing, now)
  while (next !== null && next.getTime() < until && times.length < TIMES_MAX) {
    times.push(next.toISOString())
    next = nextScheduledRun(timing, next)
  }
  return times
}

/** Formats `Monday to Friday at 07:00`. Returns null if the times do not repeat weekly. */
function formatDueTimes(times: readonly Instant[], locale: LocaleContext): string | null {
  const today = localDay(Date.parse(locale.now), locale.timeZone)
  const byDay = Map.groupBy(times, (at) => localDay(Date.parse(at), locale.timeZone))
  const days = [...byDay.keys()].filter((day) => day > today && day <= today + DAYS_SHOWN)
  const weekdays = [...new Set(days.map(weekdayOf))].sort()
  const clocks = days.map((day) => (byDay.get(day) ?? []).map(locale.dates.time))
  const [first = []] = clocks
  const isSameEachWeek = days.length * 7 === weekdays.length * DAYS_SHOWN
  const isSameEachDay = clocks.every((each) => each.join() === first.join())
  return days.length > 0 && isSameEachWeek && isSameEachDay ? formatWeekly(weekdays, first, locale) : null
}

/** Weekdays begin with 1 for Monday, and the local times are the same on each of them. */
function formatWeekly(
  weekdays: readonly number[],
  times: readonly string[],
  { words, and }: LocaleContext,
): string {
  const isWorkweek = weekdays.join() === '1,2,3,4,5'
  return words('preferences.due', {
    days: weekdays.length === 7 ? 'every_day' : isWorkweek ? 'workdays' : 'some',
    weekdays: and(weekdays.map((day) => words('preferences.weekday', { day }))),
    isOften: times.length > CLOCKS_NAMED,
    count: times.length,
    times: and(times),
  })
}

/** Renders pages for recipients, which need no script and load only their stylesheet. */

export interface WebPages {
  readonly stylesheet: string
  preference(view: PreferenceView): string
  error(view: ErrorPageView): string
}

interface ErrorPageView {
  readonly lang: string
  readonly title: string
  readonly text: string
}

const FOLDER = 'web'

/** @throws LeadsheetError report_template */
export async function openWebPages(folder: string): Promise<WebPages> {
  const files = await readTemplateFiles(folder, null)
  const compile = createCompiler('html', new Map([['page', files.take(FOLDER, 'page.hbs')]]))
  return {
    stylesheet: files.take(FOLDER, 'web.css').text,
    preference: compile(files.take(FOLDER, 'preference.hbs')),
    error: compile(files.take(FOLDER, 'error.hbs')),
  }
}
