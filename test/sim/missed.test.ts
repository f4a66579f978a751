/** Scheduled runs that the daemon missed because it was down or busy. */
import { describe, expect, it } from 'vitest'
import type { CatchUp } from '../../src/schedule/timing.ts'
import { faultsOf } from './faults-of.ts'
import { DAY_MS, daily, HOUR_MS, HOURLY, MINUTE_MS } from './plan.ts'
import { openWorld, type World } from './world.ts'

/** A Sunday. At 06:00 UTC it is 07:00 in Vienna. */
const FROM = new Date('2026-01-11T12:00:00Z')
const GONE_AT = '2026-01-12T05:59:30.000Z'

/** Returns the days of January whose report was made, in the order of the runs. */
function daysOf({ runs }: World): number[] {
  return runs.filter(({ schedule }) => schedule === 'report:vienna').map(({ due }) => due.dueAt.getUTCDate())
}

async function states(world: World, schedule: string) {
  const rows = world.store.db.selectFrom('scheduled_run').where('schedule', '=', schedule)
  return (await rows.selectAll().orderBy('due_at').execute()).map(({ due_at, state, message }) => ({
    due_at: due_at.slice(8, 16),
    state,
    message,
  }))
}

const POLICIES = {
  latest: { policy: 'latest', windowHours: 24 },
  all: { policy: 'all', windowHours: 48 },
  none: { policy: 'none', windowHours: 24 },
} as const satisfies Record<string, CatchUp>

describe('a report that is due while the daemon is down', () => {
  it.each([
    { policy: 'latest', down: '1 minute', ms: MINUTE_MS, made: [12], late: false },
    { policy: 'latest', down: '2 hours', ms: 2 * HOUR_MS, made: [12], late: true },
    { policy: 'latest', down: '25 hours', ms: 25 * HOUR_MS, made: [13], late: true },
    { policy: 'latest', down: '3 days', ms: 3 * DAY_MS + HOUR_MS, made: [15], late: true },
    { policy: 'all', down: '1 minute', ms: MINUTE_MS, made: [12], late: false },
    { policy: 'all', down: '2 hours', ms: 2 * HOUR_MS, made: [12], late: true },
    { policy: 'all', down: '25 hours', ms: 25 * HOUR_MS, made: [12, 13], late: true },
    { policy: 'all', down: '3 days', ms: 3 * DAY_MS + HOUR_MS, made: [14, 15], late: true },
    { policy: 'none', down: '1 minute', ms: MINUTE_MS, made: [12], late: false },
    { policy: 'none', down: '2 hours', ms: 2 * HOUR_MS, made: [], late: true },
    { policy: 'none', down: '25 hours', ms: 25 * HOUR_MS, made: [], late: true },
    { policy: 'none', down: '3 days', ms: 3 * DAY_MS + HOUR_MS, made: [], late: true },
  ] as const)(
    'for $down is made for January $made by the policy $policy, and says why it is late',
    async ({ policy, ms, made, late }) => {
      for (const end of ['stop', 'kill'] as const) {
        await using world = await openWorld({ from: FROM, planned: [daily(POLICIES[policy])] })
        await world.start()
        await world.passTo(GONE_AT)
        await world[end]()
        world.clock.at += ms
        const backAt = new Date(world.clock.at).toISOString()
        await world.start()
        expect(daysOf(world)).toEqual(made)
        const from = end === 'stop' ? GONE_AT : '2026-01-12T05:59:00.000Z'
        for (const { due } of world.runs) {
          expect(due.late).toEqual(late ? { from, to: backAt, why: 'down' } : null)
        }
        await world.passTo('2026-01-16T12:00:00Z')
        expect(await faultsOf(world)).toEqual([])
        // After the daemon is up again, the report is made each day.
        expect(daysOf(world).slice(-1)).toEqual([16])
        const skipped = (await states(world, 'report:vienna'))
          .filter(({ state }) => state === 'skipped')
          .slice(1)
        for (const { message } of skipped)
          expect(message).toMatch(/^missed: nothing ran from 2026-01-12 05:59 UTC to /)
      }
    },
  )
})

describe('a first sync that takes longer than the time to its next scheduled run', () => {
  async function openLong(catchUp: CatchUp): Promise<World> {
    let runs = 0
    const world = await openWorld({
      from: new Date('2026-01-12T04:00:00Z'),
      planned: [{ ...HOURLY, schedule: { ...HOURLY.schedule, catchUp } }, daily(POLICIES.latest)],
      durationMs: () => (runs++ === 0 ? 2.5 * HOUR_MS : 2_000),
    })
    await world.start()
    await world.passTo('2026-01-12T08:30:00Z')
    expect(await faultsOf(world)).toEqual([])
    return world
  }

  it('is followed by the latest scheduled run alone, those between are shown as overlapped, and the report says that it waited', async () => {
    await using world = await openLong(POLICIES.latest)
    expect(await states(world, 'sync')).toEqual([
      { due_at: '12T04:00', state: 'done', message: null },
      {
        due_at: '12T05:00',
        state: 'skipped',
        message: 'overlapped: not begun when that of 2026-01-12 06:00 UTC came',
      },
      { due_at: '12T06:00', state: 'done', message: null },
      { due_at: '12T07:00', state: 'done', message: null },
      { due_at: '12T08:00', state: 'done', message: null },
    ])
    const report = world.runs.find(({ schedule }) => schedule === 'report:vienna')
    expect(report?.due.late).toMatchObject({ from: '2026-01-12T06:00:00.000Z', why: 'waited' })
  })

  it('is followed by each of them where all are made up for', async () => {
    await using world = await openLong(POLICIES.all)
    const noted = (await states(world, 'sync')).map(({ due_at, state }) => `${due_at} ${state}`)
    expect(noted).toEqual([4, 5, 6, 7, 8].map((hour) => `12T0${hour}:00 done`))
  })
})
