/** The times at which operators get which alerts: first case by case, then with random problems. */
import { describe, expect, it } from 'vitest'
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

  open(): string[] {
    return this.alerts.filter(({ state }) => state === 'open').map(({ checkId: check }) => check)
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

describe('a problem', () => {
  it('that cannot pass by itself is told at once, and only once', () => {
    const installation = new Installation()
    expect(said(installation.tick([KEY]))).toEqual(['+key_refused'])
    for (let minute = 0; minute < 23 * HOUR; minute++) expect(installation.tick([KEY])).toBeNull()
  })

  it('that may pass by itself is told when it was seen so often in a row', () => {
    const installation = new Installation()
    installation.tick([DISK])
    installation.tick([DISK])
    installation.tick([])
    expect(installation.alerts).toEqual([])
    expect([1, 2, 3].map(() => said(installation.tick([DISK])))).toEqual([[], [], ['+disk_low']])
  })

  it('that counts its failures itself is told when there were so many', () => {
    const installation = new Installation()
    for (let tick = 0; tick < 20; tick++) {
      expect(installation.tick([problem('sync_failing', { failures: 2 })])).toBeNull()
    }
    expect(said(installation.tick([problem('sync_failing', { failures: 3 })]))).toEqual(['+sync_failing'])
  })

  it('is told to have passed, once', () => {
    const installation = new Installation()
    installation.tick([KEY])
    expect(said(installation.tick([], 10))).toEqual(['-key_refused'])
    expect(installation.tick([], 10)).toBeNull()
    expect(installation.open()).toEqual([])
  })

  it('is reminded of each day, with all that is open, however far apart they were raised', () => {
    const installation = new Installation()
    installation.tick([KEY])
    const both = [KEY, problem('report_held', { subject: 'daily' })]
    installation.tick(both, 5 * HOUR)
    expect(said(installation.tick(both, 19 * HOUR))).toEqual(['!key_refused', '!report_held'])
    expect(installation.tick(both, 23 * HOUR)).toBeNull()
    expect(said(installation.tick(both, HOUR))).toEqual(['!key_refused', '!report_held'])
  })

  it('that an operator knows of is not reminded of, and told when it has passed', () => {
    const installation = new Installation()
    installation.tick([KEY])
    installation.alerts = installation.alerts.map((notice) => ({
      ...notice,
      acknowledgedAt: installation.now.toISOString(),
    }))
    expect(installation.tick([KEY], 100 * HOUR)).toBeNull()
    expect(said(installation.tick([]))).toEqual(['-key_refused'])
  })

  it('has its words renewed while it is open, without being told again', () => {
    const installation = new Installation()
    installation.tick([KEY])
    expect(installation.tick([{ ...KEY, message: 'otherwise' }])).toBeNull()
    expect(installation.alerts[0]?.message).toBe('otherwise')
  })

  it('of which nothing is known stays as it is', () => {
    const installation = new Installation()
    installation.tick([KEY])
    installation.tick([KEY, DISK])
    expect(installation.tick([], 10, ['key_refused', 'disk_low'])).toBeNull()
    expect(installation.open()).toEqual(['key_refused'])
    expect(installation.alerts).toHaveLength(2)
  })

  it('that is over by the time it could be told is never told', () => {
    const installation = new Installation()
    installation.tick([KEY])
    expect(installation.tick([KEY, problem('report_held')])).toBeNull()
    expect(installation.tick([KEY], 10)).toBeNull()
    expect(installation.messages).toHaveLength(1)
  })
})

describe('what comes and goes', () => {
  it('is told the first time it comes and the first time it goes, and then not any more', () => {
    const installation = new Installation()
    for (let round = 0; round < 200; round++) installation.tick(round % 2 === 0 ? [KEY] : [], 20)
    expect(installation.messages.map(({ announcement }) => said(announcement))).toEqual([
      ['+key_refused'],
      ['-key_refused'],
    ])
    expect(installation.alerts).toHaveLength(1)
  })

  it('is told again once it has stayed for an hour', () => {
    const installation = new Installation()
    installation.tick([KEY])
    installation.tick([], 10)
    installation.tick([KEY], 10)
    expect(installation.tick([KEY], 59)).toBeNull()
    expect(said(installation.tick([KEY]))).toEqual(['+key_refused'])
    expect(said(installation.tick([], 60))).toEqual(['-key_refused'])
  })

  it('is a new problem where it had been away for more than an hour', () => {
    const installation = new Installation()
    installation.tick([KEY])
    installation.tick([], 10)
    expect(said(installation.tick([KEY], 61))).toEqual(['+key_refused'])
    expect(installation.alerts.map(({ id, state }) => [id, state])).toEqual([
      [1, 'resolved'],
      [2, 'open'],
    ])
  })
})

describe('an event', () => {
  const event = problem('fields_changed', { subject: 'company.name' })

  it('is told once, never reminded of, and over without a word', () => {
    const installation = new Installation()
    expect(said(installation.tick([event]))).toEqual(['+fields_changed'])
    expect(installation.tick([event], 25 * HOUR)).toBeNull()
    expect(installation.tick([], 60)).toBeNull()
    expect(installation.open()).toEqual([])
  })
})

describe('a message', () => {
  it('tells together what is to be told at one tick', () => {
    const installation = new Installation()
    const held = ['daily', 'weekly'].map((subject) => problem('report_held', { subject }))
    expect(said(installation.tick([KEY, ...held]))).toEqual(['+key_refused', '+report_held', '+report_held'])
  })

  it('is one for ten thousand problems, and few when they come one by one', () => {
    const all = Array.from({ length: 10_000 }, (_, n) => problem('recipient_paused', { subject: `r${n}` }))
    const atOnce = new Installation()
    atOnce.tick(all)
    expect(atOnce.messages).toHaveLength(1)
    const oneByOne = new Installation()
    for (let count = 1; count <= 360; count++) oneByOne.tick(all.slice(0, count))
    expect(oneByOne.messages.length).toBeLessThanOrEqual(9)
    oneByOne.tick(all.slice(0, 360), HOUR)
    const told = oneByOne.messages.flatMap(({ announcement }) => announcement.opened)
    expect(new Set(told.map(({ subject }) => subject)).size).toBe(360)
  })
})

describe('over random streams of problems', () => {
  const seeds = process.env.SEED
    ? [Number(process.env.SEED)]
    : Array.from({ length: Number(process.env.SEEDS ?? 25) }, (_, n) => n + 1)
  const reasons = ALERTING_IDS
  const subjects = ['', 'a', 'b']

  it.each(seeds)('what is told is true, in turn, and not much (SEED=%i)', (seed) => {
    const chance = random(seed)
    const installation = new Installation()
    const there = new Map<string, Found>()
    const knows = new Map<number, 'open' | 'resolved'>()
    const liveliness = chance() * 0.2
    for (let tick = 0; tick < 300; tick++) {
      for (const reason of reasons) {
        for (const subject of subjects) {
          if (chance() > liveliness) continue
          const key = `${reason} ${subject}`
          if (!there.delete(key)) {
            const counted = chance() < 0.3 ? { failures: Math.ceil(chance() * 5) } : {}
            there.set(key, problem(reason, { subject, ...counted }))
          }
        }
      }
      const unknown = reasons.filter(() => chance() < 0.02)
      // Sometimes the clock is set.
      const minutes = chance() < 0.01 ? Math.round((chance() - 0.5) * 600) : 1 + Math.floor(chance() * 20)
      const announcement = installation.tick([...there.values()], minutes, unknown)
      checkTelling(announcement, knows)
      if (announcement !== null) expect(installation.tick([...there.values()], 0, unknown)).toBeNull()
      checkOpen(installation, there, new Set(unknown))
    }
    checkRate(installation)
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
  })

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

  /**
   * Checks that no span of six hours has more than nine messages: three, and one more for each hour. Nothing is
   * checked if the clock was set back.
   */
  function checkRate({ messages }: Installation): void {
    const times = messages.map(({ at }) => at.getTime())
    const isForward = times.every((time, index) => index === 0 || time >= (times[index - 1] ?? 0))
    if (!isForward) return
    for (const from of times) {
      const within = times.filter((time) => time >= from && time < from + 6 * HOUR * MINUTE_MS)
      expect(within.length).toBeLessThanOrEqual(9)
    }
  }
})
