/** The times at which operators get which alerts: first case by case, then with random problems. */
import { expect, it } from 'vitest'
import type { Found } from '../../../src/checks/run-checks.ts'
import { ALERTING_IDS, alertFacts, type CheckId } from '../../../src/checks/run-checks.ts'
import {
  type Announcement,
  type Decision,
  decide,
  type KnownAlerts,
} from '../../../src/jobs/alerts/alert-state.ts'
import type { Alert } from '../../../src/store/alerts/alert.ts'
import { random } from '../../support/random.ts'

const MINUTE_MS = 60_000
const HOUR = 60

/** The state of an installation and its messages, tick by tick. */
class Installation {
  now = new Date('2026-11-21T06:00:00Z')
  alerts: Alert[] = []
  readonly messages: { readonly at: Date; readonly announcement: Announcement }[] = []
  last: Decision | null = null

  /** Runs a tick, so many minutes after the last one. */
  tick(problems: readonly Found[], minutes = 1, unknown: readonly CheckId[] = []): Announcement | null {
    this.now = new Date(this.now.getTime() + minutes * MINUTE_MS)
    this.last = decide({ findings: problems, unknown: new Set(unknown) }, this.known(), this.now)
    const { changed, dropped, announcement } = this.last
    const byId = new Map(this.alerts.map((notice) => [notice.id, notice]))
    for (const notice of changed) byId.set(notice.id, notice)
    for (const id of dropped) byId.delete(id)
    this.alerts = [...byId.values()]
    if (announcement !== null) this.messages.push({ at: this.now, announcement })
    return announcement
  }

  known(): KnownAlerts {
    const hourAgo = new Date(this.now.getTime() - HOUR * MINUTE_MS).toISOString()
    return {
      alerts: this.alerts.filter(
        ({ state, announced, resolvedAt }) =>
          state !== 'resolved' || announced === 'open' || (resolvedAt ?? '') >= hourAgo,
      ),
      nextId: Math.max(0, ...this.alerts.map(({ id }) => id)) + 1,
      messagesAt: this.messages.map(({ at }) => at.toISOString()),
    }
  }
}

function problem(check: CheckId, change: Partial<Found> = {}): Found {
  return { check, subject: '', message: `${check} is there`, hint: 'do something', ...change }
}

/** Returns the alerts of an announcement: `+` raised, `!` reminded, `-` recovered. */
function said(announcement: Announcement | null): string[] {
  const each = (mark: string, alerts: readonly Alert[] = []) =>
    alerts.map(({ checkId: check }) => mark + check)
  return [
    ...each('+', announcement?.opened),
    ...each('!', announcement?.reminded),
    ...each('-', announcement?.resolved),
  ]
}

const KEY = problem('key_refused')
const DISK = problem('disk_low')

const EVENT = problem('fields_changed', { subject: 'company.name' })
const HELD = ['daily', 'weekly'].map((subject) => problem('report_held', { subject }))
const MANY = Array.from({ length: 10_000 }, (_, n) => problem('recipient_paused', { subject: `r${n}` }))

const STORIES: Readonly<Record<string, (installation: Installation) => void>> = {
  'that cannot pass by itself is told at once, and only once, and once that it has passed': (on) => {
    for (let minute = 0; minute < 23 * HOUR; minute++) on.tick([KEY])
    on.tick([], 10)
    on.tick([], 10)
  },
  'that may pass by itself is told when it was seen so often in a row': (on) => {
    for (const problems of [[DISK], [DISK], [], [DISK], [DISK], [DISK]]) on.tick(problems)
  },
  'that counts its failures itself is told when there were so many': (on) => {
    for (let tick = 0; tick < 20; tick++) on.tick([problem('sync_failing', { failures: 2 })])
    on.tick([problem('sync_failing', { failures: 3 })])
  },
  'is reminded of each day, with all that is open, however far apart they were raised': (on) => {
    on.tick([KEY])
    for (const hours of [5, 19, 23, 1]) on.tick([KEY, ...HELD.slice(0, 1)], hours * HOUR)
  },
  'that an operator knows of is not reminded of, and told when it has passed': (on) => {
    on.tick([KEY])
    on.alerts = on.alerts.map((alert) => ({ ...alert, acknowledgedAt: on.now.toISOString() }))
    on.tick([KEY], 100 * HOUR)
    on.tick([])
  },
  'has its words renewed while it is open, without being told again': (on) => {
    on.tick([KEY])
    on.tick([{ ...KEY, message: 'otherwise' }])
  },
  'of which nothing is known stays as it is': (on) => {
    on.tick([KEY])
    on.tick([KEY, DISK])
    on.tick([], 10, ['key_refused', 'disk_low'])
  },
  'that is over by the time it could be told is never told': (on) => {
    on.tick([KEY])
    on.tick([KEY, problem('report_held')])
    on.tick([KEY], 10)
  },
  'that comes and goes is told the first time it comes and the first time it goes, and then not any more': (
    on,
  ) => {
    for (let round = 0; round < 200; round++) on.tick(round % 2 === 0 ? [KEY] : [], 20)
  },
  'that comes and goes is told again once it has stayed for an hour': (on) => {
    for (const [problems, minutes] of [
      [[KEY], 1],
      [[], 10],
      [[KEY], 10],
      [[KEY], 59],
      [[KEY], 1],
      [[], 60],
    ] as const)
      on.tick(problems, minutes)
  },
  'is a new one where it had been away for more than an hour': (on) => {
    on.tick([KEY])
    on.tick([], 10)
    on.tick([KEY], 61)
  },
  'that is an event is told once, never reminded of, and over without a word': (on) => {
    on.tick([EVENT])
    on.tick([EVENT], 25 * HOUR)
    on.tick([], 60)
  },
  'that comes with others is told with them': (on) => {
    on.tick([KEY, ...HELD])
  },
}

it('a problem: when operators are told of it, and what is kept of it', async () => {
  const lines: string[] = []
  for (const [name, story] of Object.entries(STORIES)) {
    const installation = new Installation()
    story(installation)
    lines.push(name)
    for (const { at, announcement } of installation.messages)
      lines.push(`  ${at.toISOString().slice(5, 16)} ${said(announcement).join(' ')}`)
    for (const { id, checkId, subject, state, message } of installation.alerts)
      lines.push(`  ${id}. ${checkId} ${subject} ${state}: ${message}`)
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/alert-state.txt')
})

it('a message is one for ten thousand problems, and few when they come one by one', () => {
  const atOnce = new Installation()
  atOnce.tick(MANY)
  expect(atOnce.messages).toHaveLength(1)
  const oneByOne = new Installation()
  for (let count = 1; count <= 360; count++) oneByOne.tick(MANY.slice(0, count))
  expect(oneByOne.messages.length).toBeLessThanOrEqual(9)
  oneByOne.tick(MANY.slice(0, 360), HOUR)
  const told = oneByOne.messages.flatMap(({ announcement }) => announcement.opened)
  expect(new Set(told.map(({ subject }) => subject)).size).toBe(360)
})

const seeds = process.env.SEED
  ? [Number(process.env.SEED)]
  : Array.from({ length: Number(process.env.SEEDS ?? 8) }, (_, n) => n + 1)
const subjects = ['', 'a', 'b']

it.each(seeds)(
  'over random streams of problems what is told is true, in turn, and not much (SEED=%i)',
  (seed) => {
    const chance = random(seed)
    const installation = new Installation()
    const there = new Map<string, Found>()
    const knows = new Map<number, 'open' | 'resolved'>()
    const liveliness = chance() * 0.2
    for (let tick = 0; tick < 300; tick++) {
      for (const reason of ALERTING_IDS) {
        for (const subject of subjects) {
          if (chance() > liveliness) continue
          const key = `${reason} ${subject}`
          if (!there.delete(key)) {
            const counted = chance() < 0.3 ? { failures: Math.ceil(chance() * 5) } : {}
            there.set(key, problem(reason, { subject, ...counted }))
          }
        }
      }
      const unknown = ALERTING_IDS.filter(() => chance() < 0.02)
      // Sometimes the clock is set.
      const minutes = chance() < 0.01 ? Math.round((chance() - 0.5) * 600) : 1 + Math.floor(chance() * 20)
      const announcement = installation.tick([...there.values()], minutes, unknown)
      checkTelling(announcement, knows)
      if (announcement !== null) expect(installation.tick([...there.values()], 0, unknown)).toBeNull()
      checkOpen(installation, there, new Set(unknown))
    }
    // Problems that last must have been told in the end.
    const lasting = [...there.values()].map(({ failures: _, ...rest }) => rest)
    for (let quarter = 0; quarter < 20; quarter++) checkTelling(installation.tick(lasting, 15), knows)
    const open = installation.alerts.filter(({ state }) => state === 'open')
    expect(open.map(({ checkId: check, subject }) => `${check} ${subject}`).sort()).toEqual(
      [...there.keys()].sort(),
    )
    for (const { id } of open) expect(knows.get(id)).toBe('open')
    const untold = installation.alerts.filter(
      ({ id, state, checkId: check }) =>
        state === 'resolved' && knows.get(id) === 'open' && alertFacts(check).alert !== 'once',
    )
    expect(untold).toEqual([])
  },
)

/** Checks that only unknown problems are raised, and only known ones are reminded or recovered. */
function checkTelling(announcement: Announcement | null, knows: Map<number, 'open' | 'resolved'>): void {
  for (const { id, checkId: check } of announcement?.opened ?? []) {
    // A single event that comes again is a new one.
    if (alertFacts(check).alert !== 'once') expect(knows.get(id)).not.toBe('open')
    knows.set(id, 'open')
  }
  for (const { id } of announcement?.reminded ?? []) expect(knows.get(id)).toBe('open')
  for (const { id, checkId: check } of announcement?.resolved ?? []) {
    expect(knows.get(id)).toBe('open')
    expect(alertFacts(check).alert).not.toBe('once')
    knows.set(id, 'resolved')
  }
}

/** Checks that every open alert has its problem, unless its check could not run. */
function checkOpen(
  installation: Installation,
  there: ReadonlyMap<string, Found>,
  unknown: ReadonlySet<CheckId>,
): void {
  const live = installation.alerts.filter(({ state }) => state !== 'resolved')
  const keys = live.map(({ checkId: check, subject }) => `${check} ${subject}`)
  expect(new Set(keys).size).toBe(keys.length)
  const stale = live.filter(
    ({ checkId: check, subject }) => !there.has(`${check} ${subject}`) && !unknown.has(check as CheckId),
  )
  expect(stale).toEqual([])
}
