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

it('what was missed is made up for as the settings say, with from when to when nothing ran, and what becomes of it', async () => {
  const lines: string[] = []
  for (const until of ['20T07:01', '20T08:40', '20T09:00', '23T06:30']) {
    for (const policy of ['latest', 'all', 'none'] as const) {
      await using ticking = await missed(policy, `2026-11-${until}:00Z`)
      lines.push(`${policy}, missed until ${until}`, ...(await ticking.told()).map((line) => `  ${line}`))
    }
  }
  await using short = await missed('latest', '2026-11-20T09:10:00Z', 1)
  lines.push('latest of an hour, missed until 20T09:10', ...(await short.told()).map((line) => `  ${line}`))
  const weekly = {
    timing: timing('0 7 * * 1'),
    catchUp: { policy: 'latest', windowHours: Number.POSITIVE_INFINITY },
  } as const
  await using ticking = await openTicking(weekly)
  for (const day of ['11-20T06:31', '11-26T09:00', '12-17T09:00']) await ticking.tick(`2026-${day}:00Z`)
  lines.push('weekly, made on Thursday; the next week stands for one that was never made')
  lines.push(...(await ticking.told()).map((line) => `  ${line}`))
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/catch-up.txt')
})

describe('what was missed', () => {
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
