/**
 * What operators are told, and when: pure, from what is wrong now and what they were told before. A trouble is raised
 * once, reminded of, and told to have passed; one that comes and goes is not told each time.
 */
import type { Instant } from '../model.ts'
import type { Notice } from '../store/alerts/alert.ts'
import { factsOf, type Reason } from './notice-reasons.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** What comes back so soon after it had passed opens again without a word, and is told once it has lasted as long. */
export const REOPEN_MS = HOUR_MS
/** The least time between messages, by how many there were in the last six hours; the last one repeats. */
const GAP_MINUTES = [0, 5, 15, 60] as const
export const GAPS_COUNT_MS = 6 * HOUR_MS

/** Something that is wrong now. */
export interface Trouble {
  readonly reason: Reason
  /** What it is about, such as a report; empty where the reason says it. */
  readonly subject: string
  /** With figures and the time since when, not how long: it is written only when it changes. */
  readonly message: string
  readonly hint: string
  /** In a row; where they are not known, the looks that have seen it are counted. */
  readonly failures?: number
}

/** What was seen at one beat. */
export interface Sighting {
  readonly troubles: readonly Trouble[]
  /** What was not looked for, or could not be: what is open of it stays so. */
  readonly unknown: ReadonlySet<Reason>
}

/** What is in the store. */
export interface Kept {
  /** Those that are not over, or have been for less than {@link REOPEN_MS}, or of which that was not told yet. */
  readonly notices: readonly Notice[]
  readonly nextId: number
  /** When messages were made, at least those within {@link GAPS_COUNT_MS}, in order. */
  readonly messagesAt: readonly Instant[]
}

export interface NoticeRules {
  readonly afterFailures: number
  readonly remindHours: number
}

export interface Telling {
  readonly raised: readonly Notice[]
  readonly reminded: readonly Notice[]
  readonly recovered: readonly Notice[]
}

export interface Decision {
  /** To be written, as they are once `telling` was told. */
  readonly changed: readonly Notice[]
  /** Ids of those that passed before they counted. */
  readonly dropped: readonly number[]
  /** One message; null where there is nothing to say, or it is too soon for another. */
  readonly telling: Telling | null
}

export function decide(sighting: Sighting, kept: Kept, rules: NoticeRules, now: Date): Decision {
  const before = new Set(kept.notices)
  const { notices, dropped } = judge(sighting, kept, rules, now)
  const telling = isTooSoon(kept.messagesAt, now) ? null : tellingOf(notices, rules, now)
  const told = telling === null ? notices : markTold(notices, telling, now)
  return { changed: told.filter((notice) => !before.has(notice)), dropped, telling }
}

function judge(
  { troubles, unknown }: Sighting,
  kept: Kept,
  rules: NoticeRules,
  now: Date,
): { notices: Notice[]; dropped: number[] } {
  const at = now.toISOString()
  const seen = new Map(troubles.map((trouble) => [keyOf(trouble), trouble]))
  const notices: Notice[] = []
  const dropped: number[] = []
  // Of one that came back after a while, the older row is only there to be told of. What is live goes before it:
  // a clock that was set can make what is long over look as if it had just closed.
  const latest = new Map([...kept.notices].sort(byLiveness).map((notice) => [keyOf(notice), notice]))
  for (const notice of kept.notices) {
    const isPast =
      latest.get(keyOf(notice)) !== notice ||
      (notice.state === 'closed' && hasPassed(notice.closedAt, REOPEN_MS, now))
    const trouble = isPast ? undefined : seen.get(keyOf(notice))
    if (trouble !== undefined) {
      seen.delete(keyOf(notice))
      notices.push(meet(notice, trouble, rules, at))
    } else if (isPast || unknown.has(notice.reason as Reason)) notices.push(notice)
    else if (notice.state === 'watched') dropped.push(notice.id)
    else notices.push(miss(notice, at))
  }
  let id = kept.nextId
  for (const trouble of seen.values()) notices.push(meet(unmet(id++, trouble, at), trouble, rules, at))
  return { notices, dropped }
}

function byLiveness(a: Notice, b: Notice): number {
  return Number(a.state !== 'closed') - Number(b.state !== 'closed') || a.id - b.id
}

function unmet(id: number, { reason, subject, message, hint }: Trouble, at: Instant): Notice {
  return {
    ...{ id, reason, subject, state: 'watched', seen: 0, message, hint, firstSeenAt: at },
    ...{ openedAt: null, reopenedAt: null, closedAt: null, told: 'nothing', toldAt: null },
    acknowledgedAt: null,
  }
}

/** The trouble is there. */
function meet(notice: Notice, { message, hint, failures }: Trouble, rules: NoticeRules, at: Instant): Notice {
  if (notice.state === 'open') {
    return notice.message === message && notice.hint === hint ? notice : { ...notice, message, hint }
  }
  const seen = notice.seen + 1
  const isEnough = factsOf(notice.reason).counts === 'at_once' || (failures ?? seen) >= rules.afterFailures
  if (!isEnough) return { ...notice, seen, message, hint }
  const isAgain = notice.state === 'closed'
  return {
    ...notice,
    ...{ state: 'open', seen, message, hint, closedAt: null },
    openedAt: notice.openedAt ?? at,
    reopenedAt: isAgain ? at : null,
  }
}

/** The trouble is not there. */
function miss(notice: Notice, at: Instant): Notice {
  if (notice.state === 'closed') return notice.seen === 0 ? notice : { ...notice, seen: 0 }
  const told = factsOf(notice.reason).isEvent && notice.told === 'raised' ? 'over' : notice.told
  return { ...notice, state: 'closed', seen: 0, closedAt: at, told }
}

function tellingOf(notices: readonly Notice[], rules: NoticeRules, now: Date): Telling | null {
  const raised = notices.filter((notice) => isToBeRaised(notice, now))
  const recovered = notices.filter(({ state, told }) => state === 'closed' && told === 'raised')
  const known = notices.filter(
    ({ reason, state, told, acknowledgedAt }) =>
      state === 'open' && told === 'raised' && acknowledgedAt === null && !factsOf(reason).isEvent,
  )
  // All at once, so that what was raised an hour apart is not reminded of an hour apart for ever.
  const isTime = known.some(({ toldAt }) => hasPassed(toldAt, rules.remindHours * HOUR_MS, now))
  const reminded = isTime ? known : []
  return raised.length + reminded.length + recovered.length === 0 ? null : { raised, reminded, recovered }
}

function isToBeRaised({ state, told, reopenedAt, acknowledgedAt }: Notice, now: Date): boolean {
  if (state !== 'open' || told === 'raised' || acknowledgedAt !== null) return false
  return told === 'nothing' || hasPassed(reopenedAt, REOPEN_MS, now)
}

function markTold(notices: readonly Notice[], telling: Telling, now: Date): Notice[] {
  const toldAt = now.toISOString()
  const open = new Set([...telling.raised, ...telling.reminded])
  const over = new Set(telling.recovered)
  return notices.map((notice) => {
    if (open.has(notice)) return { ...notice, told: 'raised', toldAt }
    return over.has(notice) ? { ...notice, told: 'over', toldAt } : notice
  })
}

/** Who is told a thousand things an hour reads none of them. */
function isTooSoon(messagesAt: readonly Instant[], now: Date): boolean {
  const recent = messagesAt.filter((at) => !hasPassed(at, GAPS_COUNT_MS, now))
  const gap = GAP_MINUTES[Math.min(recent.length, GAP_MINUTES.length - 1)] ?? 0
  const last = recent.at(-1)
  return last !== undefined && !hasPassed(last, gap * MINUTE_MS, now)
}

/** What lies ahead was noted by a clock that was wrong, and counts as long ago. */
function hasPassed(since: Instant | null, ms: number, now: Date): boolean {
  if (since === null) return true
  const ageMs = now.getTime() - Date.parse(since)
  return ageMs >= ms || ageMs < 0
}

function keyOf({ reason, subject }: Pick<Notice, 'reason' | 'subject'>): string {
  return `${reason} ${subject}`
}
