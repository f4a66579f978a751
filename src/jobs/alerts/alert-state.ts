/**
 * Decides the state of each alert from what the checks find now and from what was announced before. Reads and
 * writes nothing. An alert is announced when it opens, repeated in reminders, and announced again when it is
 * resolved. A problem that comes and goes is not announced each time.
 */

import { ALERT_FAILURES } from '../../checks/check.ts'
import { type AlertFindings, alertFacts, type Found } from '../../checks/run-checks.ts'
import type { Instant } from '../../domain/model.ts'
import type { Alert } from '../../store/alerts/alert.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../time.ts'

/** An alert that comes back within this time is announced only if it then lasts this long. */
export const REOPEN_MS = HOUR_MS
const REMIND_MS = DAY_MS
/** By the number of messages in the last six hours. */
const GAP_MINUTES = [0, 5, 15, 60] as const
/** Messages that were sent within this time are counted to choose the minutes in {@link GAP_MINUTES}. */
export const GAPS_COUNT_MS = 6 * HOUR_MS

/** The alerts and the times of messages, as read from the store. */
export interface KnownAlerts {
  /** Pending, open, resolved less than {@link REOPEN_MS} ago, or with an end that was not announced yet. */
  readonly alerts: readonly Alert[]
  readonly nextId: number
  /** Oldest first. Times before the last {@link GAPS_COUNT_MS} may be missing. */
  readonly messagesAt: readonly Instant[]
}

export interface Announcement {
  readonly opened: readonly Alert[]
  readonly reminded: readonly Alert[]
  readonly resolved: readonly Alert[]
}

export interface Decision {
  /** The alerts to write to the store, in their state after the announcement. */
  readonly changed: readonly Alert[]
  /** Pending alerts whose problem ended before they were opened. */
  readonly dropped: readonly number[]
  /** The message to send; null if there is nothing to announce, or if it is too soon for another message. */
  readonly announcement: Announcement | null
}

export function decide(found: AlertFindings, known: KnownAlerts, now: Date): Decision {
  const before = new Set(known.alerts)
  const { alerts, dropped } = applyFindings(found, known, now)
  const announcement = isTooSoon(known.messagesAt, now) ? null : announcementOf(alerts, now)
  const after = announcement === null ? alerts : markAnnounced(alerts, announcement, now)
  return { changed: after.filter((alert) => !before.has(alert)), dropped, announcement }
}

function applyFindings(
  { findings, unknown }: AlertFindings,
  known: KnownAlerts,
  now: Date,
): { alerts: Alert[]; dropped: number[] } {
  const at = now.toISOString()
  const found = new Map(findings.map((finding) => [keyOf(finding.check, finding.subject), finding]))
  const alerts: Alert[] = []
  const dropped: number[] = []
  // One problem can have two alerts: its current alert, and an older alert whose end is not announced yet.
  // The map keeps the last alert of each key. Unresolved alerts come last, because after a change of the
  // clock an alert that was resolved long ago can look newer.
  const latest = new Map(
    [...known.alerts].sort(byLiveness).map((alert) => [keyOf(alert.checkId, alert.subject), alert]),
  )
  for (const alert of known.alerts) {
    const key = keyOf(alert.checkId, alert.subject)
    const isPast =
      latest.get(key) !== alert || (alert.state === 'resolved' && hasPassed(alert.resolvedAt, REOPEN_MS, now))
    const finding = isPast ? undefined : found.get(key)
    if (finding !== undefined) {
      found.delete(key)
      alerts.push(applyFound(alert, finding, at))
    } else if (isPast || unknown.has(alert.checkId)) alerts.push(alert)
    else if (alert.state === 'pending') dropped.push(alert.id)
    else alerts.push(applyNotFound(alert, at))
  }
  let id = known.nextId
  for (const finding of found.values()) {
    alerts.push(applyFound(newAlert(id++, finding, at), finding, at))
  }
  return { alerts, dropped }
}

function byLiveness(a: Alert, b: Alert): number {
  return Number(a.state !== 'resolved') - Number(b.state !== 'resolved') || a.id - b.id
}

function newAlert(id: number, { check, subject, message, hint }: Found, at: Instant): Alert {
  return {
    id,
    checkId: check,
    subject,
    state: 'pending',
    seen: 0,
    message,
    hint,
    firstSeenAt: at,
    openedAt: null,
    reopenedAt: null,
    resolvedAt: null,
    announced: 'nothing',
    announcedAt: null,
    acknowledgedAt: null,
  }
}

function applyFound(alert: Alert, { message, hint, failures }: Found, at: Instant): Alert {
  if (alert.state === 'open') {
    return alert.message === message && alert.hint === hint ? alert : { ...alert, message, hint }
  }
  const seen = alert.seen + 1
  const isEnough =
    alertFacts(alert.checkId).alert !== 'after_failures' || (failures ?? seen) >= ALERT_FAILURES
  if (!isEnough) return { ...alert, seen, message, hint }
  const isAgain = alert.state === 'resolved'
  return {
    ...alert,
    state: 'open',
    seen,
    message,
    hint,
    resolvedAt: null,
    openedAt: alert.openedAt ?? at,
    reopenedAt: isAgain ? at : null,
  }
}

function applyNotFound(alert: Alert, at: Instant): Alert {
  if (alert.state === 'resolved') return alert.seen === 0 ? alert : { ...alert, seen: 0 }
  const isSilent = alertFacts(alert.checkId).alert === 'once' && alert.announced === 'open'
  const announced = isSilent ? 'resolved' : alert.announced
  return { ...alert, state: 'resolved', seen: 0, resolvedAt: at, announced }
}

function announcementOf(alerts: readonly Alert[], now: Date): Announcement | null {
  const opened = alerts.filter((alert) => isToBeAnnounced(alert, now))
  const resolved = alerts.filter(({ state, announced }) => state === 'resolved' && announced === 'open')
  const known = alerts.filter(
    ({ checkId: check, state, announced, acknowledgedAt }) =>
      state === 'open' &&
      announced === 'open' &&
      acknowledgedAt === null &&
      alertFacts(check).alert !== 'once',
  )
  // The reminder names all alerts together. Otherwise alerts that opened an hour apart would cause reminders
  // an hour apart for ever.
  const isTime = known.some(({ announcedAt }) => hasPassed(announcedAt, REMIND_MS, now))
  const reminded = isTime ? known : []
  return opened.length + reminded.length + resolved.length === 0 ? null : { opened, reminded, resolved }
}

function isToBeAnnounced({ state, announced, reopenedAt, acknowledgedAt }: Alert, now: Date): boolean {
  if (state !== 'open' || announced === 'open' || acknowledgedAt !== null) return false
  return announced === 'nothing' || hasPassed(reopenedAt, REOPEN_MS, now)
}

function markAnnounced(alerts: readonly Alert[], announcement: Announcement, now: Date): Alert[] {
  const announcedAt = now.toISOString()
  const open = new Set([...announcement.opened, ...announcement.reminded])
  const resolved = new Set(announcement.resolved)
  return alerts.map((alert) => {
    if (open.has(alert)) return { ...alert, announced: 'open', announcedAt }
    return resolved.has(alert) ? { ...alert, announced: 'resolved', announcedAt } : alert
  })
}

/** Returns whether it is too soon for another message, because nobody reads a thousand alerts an hour. */
function isTooSoon(messagesAt: readonly Instant[], now: Date): boolean {
  const recent = messagesAt.filter((at) => !hasPassed(at, GAPS_COUNT_MS, now))
  const gap = GAP_MINUTES[Math.min(recent.length, GAP_MINUTES.length - 1)] ?? 0
  const last = recent.at(-1)
  return last !== undefined && !hasPassed(last, gap * MINUTE_MS, now)
}

/** True for null, and for an instant in the future, which was stored under a wrong clock. */
function hasPassed(since: Instant | null, ms: number, now: Date): boolean {
  if (since === null) return true
  const ageMs = now.getTime() - Date.parse(since)
  return ageMs >= ms || ageMs < 0
}

function keyOf(check: string, subject: string): string {
  return `${check} ${subject}`
}
