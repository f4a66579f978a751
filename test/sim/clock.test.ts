/**
 * Clocks that are set, jump and drift. What was due is done once, and future runs are not taken for past
 * ones.
 */
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

type Step = (world: World) => Promise<void>

/** What a clock goes through, in hours, and what was run then. */
interface Story {
  readonly what: string
  readonly steps: readonly Step[]
  readonly reports?: readonly string[]
  readonly syncs?: readonly number[]
  readonly late?: object
}

const pass =
  (hours: number): Step =>
  (world) =>
    world.passTo(new Date(world.clock.at + hours * HOUR_MS))
const set =
  (hours: number): Step =>
  (world) =>
    setClock(world, hours * HOUR_MS)
const sleep =
  (hours: number): Step =>
  (world) => {
    world.clock.at += hours * HOUR_MS
    world.clock.asleepMs += hours * HOUR_MS
    return world.tick()
  }

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

const STORIES: readonly Story[] = [
  {
    what: 'goes back by an hour after a scheduled run does nothing twice',
    steps: [pass(2.25), set(-1), pass(0.5)],
    reports: ['12T06:00'],
    syncs: [4, 5, 6],
  },
  {
    what: 'goes forward by three hours loses no report',
    steps: [pass(1.5), set(3)],
    reports: ['12T06:00'],
    late: { why: 'clock' },
  },
  {
    what: 'goes forward by three hours and is put right again loses nothing',
    steps: [pass(1.5), set(3), pass(0.25), set(0), pass(3)],
    reports: ['12T06:00'],
    syncs: [4, 5, 6, 7, 8],
  },
  ...[1, 5].map((years) => ({
    what: `was ahead by ${years} years for an hour takes no day of the year from the report`,
    steps: [pass(0.5), set(years * 365 * 24), pass(1)],
  })),
  {
    what: 'stood while the machine slept makes the latest report, late by it',
    steps: [pass(1), sleep(3)],
    reports: ['12T06:00'],
    late: { from: '2026-01-12T05:00:00.000Z', why: 'clock' },
  },
]

describe('a clock', () => {
  it.each(STORIES.map((story) => [story.what, story] as const))(
    'that %s',
    async (_, { steps, reports, syncs, late }) => {
      await using world = await openUp()
      for (const step of steps) await step(world)
      if (reports) expect(scheduledRunsOf(world, 'report:vienna')).toEqual(reports)
      if (syncs) expect(scheduledRunsOf(world, 'sync').sort()).toEqual(syncs.map((hour) => `12T0${hour}:00`))
      if (late) expect(world.runs.at(-1)?.due.late).toMatchObject(late)
      await setClock(world, 0)
      await expectAsEver(world)
    },
  )

  it(`that wavers by two seconds, ten times around a due_at, makes it due once; SEED=${SEED}`, async () => {
    const next = random(SEED)
    await using world = await openUp()
    await pass(2 - 10 / 3600)(world)
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
    await pass(1)(world)
    await setClock(world, 0)
    // The run of the day before is made, because it is within its window; the daemon cannot know more of it.
    expect(scheduledRunsOf(world, 'report:vienna')).toEqual(['11T06:00'])
    await pass(48)(world)
    expect(scheduledRunsOf(world, 'report:vienna')).toEqual(['11T06:00', '12T06:00', '13T06:00'])
    expect(await faultsOf(world)).toEqual([])
  })
})
