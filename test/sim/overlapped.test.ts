/** Scheduled runs that come due while the daemon is busy. */
import { describe, expect, it } from 'vitest'
import { faultsOf } from './faults-of.ts'
import { daily, HOUR_MS, HOURLY } from './plan.ts'
import { openWorld, type World } from './world.ts'

async function syncsOf(world: World) {
  const rows = world.store.db.selectFrom('scheduled_run').where('schedule', '=', 'sync')
  return (await rows.selectAll().orderBy('due_at').execute()).map(({ due_at, state, message }) => ({
    due_at: due_at.slice(8, 16),
    state,
    message,
  }))
}

describe('a first sync that takes longer than the time to its next scheduled run', () => {
  async function openLong(policy: 'latest' | 'all'): Promise<World> {
    const schedule = { ...HOURLY.schedule, catchUp: { policy, windowHours: 24 } }
    let runs = 0
    const world = await openWorld({
      from: new Date('2026-01-12T04:00:00Z'),
      planned: [{ ...HOURLY, schedule }, daily({ policy: 'latest', windowHours: 24 })],
      durationMs: () => (runs++ === 0 ? 2.5 * HOUR_MS : 2_000),
    })
    await world.start()
    await world.passTo('2026-01-12T08:30:00Z')
    expect(await faultsOf(world)).toEqual([])
    return world
  }

  it('is followed by the latest scheduled run alone, those between are shown as overlapped, and the report says that it waited', async () => {
    await using world = await openLong('latest')
    expect(await syncsOf(world)).toEqual([
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
    await using world = await openLong('all')
    const noted = (await syncsOf(world)).map(({ due_at, state }) => `${due_at} ${state}`)
    expect(noted).toEqual([4, 5, 6, 7, 8].map((hour) => `12T0${hour}:00 done`))
  })
})
