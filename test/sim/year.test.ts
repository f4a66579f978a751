/**
 * A year of a daemon on a machine with every kind of problem at random. Its records are compared with what
 * was due.
 */
import { expect, it } from 'vitest'
import { random } from '../support/random.ts'
import { dueTimes } from './due-times.ts'
import { faultsOf } from './faults-of.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, PLANNED, SECOND_MS } from './plan.ts'
import { IS_FULL, SEED } from './scale.ts'
import { openWorld, type World } from './world.ts'

const YEAR_MS = 365 * DAY_MS

/** A year, or in the sample the weeks in which the clocks of America and Europe change. */
const FROM = new Date(IS_FULL ? '2026-01-01T00:00:00Z' : '2026-03-06T00:00:00Z')
const DAYS = IS_FULL ? 365 : 25

it(`a daemon through ${DAYS} days misses nothing, does nothing twice and explains what is late, through outages, kills, held-up hours and wrong clocks; SEED=${SEED}`, async () => {
  const next = random(SEED)
  // Sometimes its work takes longer than an hour.
  const durationMs = (): number => (next() < 0.01 ? next() * 3 * HOUR_MS : next() * 30 * SECOND_MS)
  await using world = await openWorld({ from: FROM, planned: PLANNED, durationMs })
  await world.start()
  const met = await live(world, problems(world, next))
  expect(await faultsOf(world)).toEqual([])
  expect(world.runs.length).toBeGreaterThan(DAYS)
  expect(Object.keys(met)).toHaveLength(6)
  // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
  console.info(`SEED=${SEED}:`, { ...met, runs: world.runs.length, kills: world.kills.length })
})

/** Ticks whenever something is due. The problems happen before that. */
async function live(world: World, happen: (due: number) => Promise<string | null>) {
  const until = new Date(FROM.getTime() + DAYS * DAY_MS)
  const times = PLANNED.flatMap(
    ({ rule, schedule }) => dueTimes([rule], schedule.timing.timeZone, FROM, until)[0] ?? [],
  )
  const due = [...new Set(times.map((time) => time.getTime()))].sort((a, b) => a - b)
  const met: Record<string, number> = {}
  for (const time of due) {
    if (time < world.clock.at) continue
    const what = await happen(time)
    if (what !== null) met[what] = (met[what] ?? 0) + 1
    world.clock.at = Math.max(world.clock.at, time + 500)
    await world.tick()
  }
  return met
}

/** Returns a function that causes a problem now and then, at most one before a scheduled run; each kind once at first. */
function problems(world: World, next: () => number): (due: number) => Promise<string | null> {
  const between = (least: number, most: number): number => least * (most / least) ** next()
  let rightAgainAt = Number.POSITIVE_INFINITY
  const restartAfter = async (ms: number): Promise<void> => {
    world.clock.at += ms
    await world.start()
  }
  const setClock = async (skewMs: number): Promise<void> => {
    world.clock.skewMs = skewMs
    rightAgainAt = world.clock.at + between(MINUTE_MS, 12 * HOUR_MS)
    await world.tick()
  }
  const kinds = {
    'stopped for a while': async () => {
      await world.stop()
      await restartAfter(between(MINUTE_MS, 3 * DAY_MS))
    },
    killed: async () => {
      world.killAt(1 + Math.floor(next() * 40), next() < 0.5 ? 'before' : 'after')
    },
    'held up': async () => {
      world.clock.at += between(5 * SECOND_MS, 20 * HOUR_MS)
    },
    'clock jitters': async (due: number) => {
      world.clock.at = Math.max(world.clock.at, due - 10 * SECOND_MS)
      for (let step = 0; step < 10; step++) {
        world.clock.skewMs = (next() - 0.5) * 4 * SECOND_MS
        world.clock.at += 2 * SECOND_MS
        await world.tick()
      }
      world.clock.skewMs = 0
    },
    'started with a clock that is years behind': async () => {
      await world.stop()
      await setClock(-50 * YEAR_MS)
      await world.start()
    },
    'clock set wrong': async () => {
      const wrong = [-HOUR_MS, 3 * HOUR_MS, 2 * DAY_MS, YEAR_MS, 5 * YEAR_MS, -30 * YEAR_MS]
      await setClock(wrong[Math.floor(next() * wrong.length)] ?? 0)
    },
  }
  const names = Object.keys(kinds) as (keyof typeof kinds)[]
  const first = [...names]
  return async (due) => {
    if (world.clock.at >= rightAgainAt) {
      world.clock.skewMs = 0
      rightAgainAt = Number.POSITIVE_INFINITY
      await world.tick()
    }
    if (!world.isUp()) await restartAfter(between(5 * SECOND_MS, HOUR_MS))
    if (next() > 0.05) return null
    const name = first.pop() ?? names[Math.floor(next() * names.length)] ?? 'killed'
    await kinds[name](due)
    return name
  }
}
