/** Clocks that are years off, or drift. What was due is done once, and future runs are not taken for past ones. */
import { describe, expect, it } from 'vitest'
import { random } from '../support/random.ts'
import { faultsOf } from './faults-of.ts'
import { DAY_MS, daily, HOUR_MS, HOURLY, SECOND_MS } from './plan.ts'
import { SEED } from './scale.ts'
import { openWorld, type World } from './world.ts'

/** A Monday. At 06:00 UTC it is 07:00 in Vienna. */
const FROM = new Date('2026-01-12T04:00:00Z')
const YEAR_MS = 365 * DAY_MS

async function openUp(): Promise<World> {
  const planned = [HOURLY, daily({ policy: 'latest', windowHours: 24 })]
  const world = await openWorld({ from: FROM, planned })
  await world.start()
  return world
}

const pass = (world: World, hours: number): Promise<void> =>
  world.passTo(new Date(world.clock.at + hours * HOUR_MS))

async function setClock(world: World, skewMs: number): Promise<void> {
  world.clock.skewMs = skewMs
  await world.tick()
}

const scheduledRunsOf = (world: World, schedule: string): string[] =>
  world.runs.filter((run) => run.schedule === schedule).map(({ due }) => due.dueAt.toISOString().slice(8, 16))

/** Checks that no run is missing after the clock's changes, and that the next days are as usual. */
async function expectAsEver(world: World): Promise<void> {
  await world.passTo('2026-01-15T12:30:00Z')
  expect(await faultsOf(world)).toEqual([])
  expect(scheduledRunsOf(world, 'report:vienna').slice(-3)).toEqual(['13T06:00', '14T06:00', '15T06:00'])
  expect(scheduledRunsOf(world, 'sync').slice(-1)).toEqual(['15T12:00'])
}

describe('a clock', () => {
  it.each([1, 5])(
    'that was ahead by %i years for an hour takes no day of the year from the report',
    async (years) => {
      await using world = await openUp()
      await pass(world, 0.5)
      await setClock(world, years * YEAR_MS)
      await pass(world, 1)
      await setClock(world, 0)
      await expectAsEver(world)
    },
  )

  it(`that wavers by two seconds, ten times around a due_at, makes it due once; SEED=${SEED}`, async () => {
    const next = random(SEED)
    await using world = await openUp()
    await pass(world, 2 - 10 / 3600)
    for (let step = 0; step < 10; step++) {
      world.clock.at += 2 * SECOND_MS
      await setClock(world, (next() - 0.5) * 4 * SECOND_MS)
    }
    await setClock(world, 0)
    expect(scheduledRunsOf(world, 'report:vienna')).toEqual(['12T06:00'])
    await expectAsEver(world)
  })

  it('that a machine begins with years behind and then puts right makes one report late and no old one', async () => {
    const planned = [daily({ policy: 'latest', windowHours: 24 })]
    await using world = await openWorld({ from: FROM, planned })
    world.clock.skewMs = -50 * YEAR_MS
    await world.start()
    await pass(world, 1)
    await setClock(world, 0)
    // The run of the day before is made, because it is within its window; the daemon cannot know more of it.
    expect(scheduledRunsOf(world, 'report:vienna')).toEqual(['11T06:00'])
    await pass(world, 48)
    expect(scheduledRunsOf(world, 'report:vienna')).toEqual(['11T06:00', '12T06:00', '13T06:00'])
    expect(await faultsOf(world)).toEqual([])
  })
})
