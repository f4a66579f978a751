// @both-stores
/** Scheduled runs that come due while the daemon is down or busy for long. */
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { CatchUp } from '../../../src/schedule/timing.ts'
import { timing } from '../../support/schedule/schedule.ts'
import { openTicking } from '../../support/schedule/ticking.ts'

const HOURLY = timing('0 * * * *')
const catchUp = (policy: CatchUp['policy'], windowHours = 24) => ({
  timing: HOURLY,
  catchUp: { policy, windowHours },
})

async function missed(policy: CatchUp['policy'], until: string, windowHours = 24) {
  const ticking = await openTicking(catchUp(policy, windowHours))
  await ticking.tick('2026-11-20T06:31:00Z')
  await ticking.tick(until)
  return ticking
}

const hours = (ran: readonly { readonly dueAt: Date }[]): string[] =>
  ran.map(({ dueAt }) => dueAt.toISOString().slice(8, 13))

describe.each([
  ['1 minute', '2026-11-20T07:01:00Z', ['20T07'], ['20T07'], ['20T07']],
  ['2.5 hours', '2026-11-20T09:00:00Z', ['20T09'], ['20T07', '20T08', '20T09'], ['20T09']],
  ['2 hours and a bit', '2026-11-20T08:40:00Z', ['20T08'], ['20T07', '20T08'], []],
  [
    '3 days',
    '2026-11-23T06:30:00Z',
    ['23T06'],
    Array.from(
      { length: 24 },
      (_, hour) => `${hour < 17 ? 22 : 23}T${String((hour + 7) % 24).padStart(2, '0')}`,
    ),
    [],
  ],
])('after %s without a daemon', (_, until, latest, all, none) => {
  it.each([
    ['latest', latest],
    ['all', all],
    ['none', none],
  ] as const)('catch_up: %s', async (policy, ran) => {
    await using ticking = await missed(policy, until)
    expect(hours(ticking.ran)).toEqual(ran)
    const states = await ticking.states()
    const total = Math.floor((Date.parse(until) - Date.parse('2026-11-20T06:00:00Z')) / 3_600_000)
    expect(states).toHaveLength(1 + total)
    expect(states.filter((state) => state.endsWith('done'))).toHaveLength(ran.length)
    expect(states.filter((state) => state.endsWith('skipped'))).toHaveLength(1 + total - ran.length)
  })
})

it('a weekly one is made on Thursday after three days, and the next week stands for one that was never made', async () => {
  const weekly = {
    timing: timing('0 7 * * 1'),
    catchUp: { policy: 'latest', windowHours: Number.POSITIVE_INFINITY } as const,
  }
  await using ticking = await openTicking(weekly)
  await ticking.tick('2026-11-20T06:31:00Z')
  await ticking.tick('2026-11-26T09:00:00Z')
  expect(hours(ticking.ran)).toEqual(['23T07'])
  await ticking.tick('2026-12-17T09:00:00Z')
  expect(hours(ticking.ran)).toEqual(['23T07', '14T07'])
  expect(
    (await ticking.scheduledRuns()).map(({ state, message }) => `${state} ${message?.split('; ').at(-1)}`),
  ).toEqual([
    'skipped the schedule was set up',
    'done undefined',
    'skipped that of 2026-12-14 07:00 UTC stands for it',
    'skipped that of 2026-12-14 07:00 UTC stands for it',
    'done undefined',
  ])
})

describe('what was missed', () => {
  it('says from when to when nothing ran, and what becomes of it', async () => {
    await using latest = await missed('latest', '2026-11-20T09:10:00Z', 1)
    expect((await latest.scheduledRuns()).map(({ message }) => message)).toEqual([
      'the schedule was set up',
      'missed: the process was held up from 2026-11-20 06:31 UTC to 2026-11-20 09:10 UTC; more than 1 hour ago',
      'missed: the process was held up from 2026-11-20 06:31 UTC to 2026-11-20 09:10 UTC; more than 1 hour ago',
      null,
    ])
    await using none = await missed('none', '2026-11-20T07:10:00Z')
    expect((await none.scheduledRuns()).at(-1)?.message).toContain('; not made up for')
  })

  it.each([
    ['clock', 60_000, 'it was set, or the machine slept'],
    ['blocked', 9_600_000, 'the process was kept from its work'],
  ])('is told apart, and logged: %s', async (why, passedMs, told) => {
    const lines: string[] = []
    let monotonic = 0
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) })
    await using daily = await openTicking({}, { log, monotonicMs: () => monotonic })
    monotonic += passedMs
    await daily.tick('2026-11-20T09:10:00Z')
    expect(daily.ran.at(-1)?.late?.why).toBe(why)
    expect(lines.join()).toContain(told)
  })

  it('is told once when the clock is set back, and nothing runs again', async () => {
    const lines: string[] = []
    let monotonic = 0
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) })
    await using daily = await openTicking({}, { log, monotonicMs: () => monotonic })
    for (const at of ['07:00', '07:01', '06:31', '06:32', '06:33']) {
      monotonic += 60_000
      await daily.tick(`2026-11-20T${at}:00Z`)
    }
    expect(lines.filter((line) => line.includes('The clock was set back by 30 minutes'))).toHaveLength(1)
  })
})

it('a run that takes longer than its interval is followed by the latest of those that came meanwhile, and the others are overlapped', async () => {
  await using hourly = await openTicking(catchUp('latest'))
  hourly.ends = async ({ dueAt }) => {
    if (dueAt.getUTCHours() === 7) hourly.clock.now = new Date('2026-11-20T10:20:00Z')
    return { state: 'done', message: null }
  }
  await hourly.tick('2026-11-20T07:00:00Z')
  await hourly.tick('2026-11-20T10:21:00Z')
  expect(await hourly.states()).toEqual([
    '06:30 skipped',
    '07:00 done',
    '08:00 skipped',
    '09:00 skipped',
    '10:00 done',
  ])
})
