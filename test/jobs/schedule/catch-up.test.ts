// @both-stores
/** Scheduled runs that come due while the daemon is down or busy for long. */
import { pino } from 'pino'
import { expect, it } from 'vitest'
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

it.each([
  ['clock', 60_000, ['09:10'], 'it was set, or the machine slept'],
  ['blocked', 9_600_000, ['09:10'], 'the process was kept from its work'],
  [undefined, 60_000, ['07:00', '07:01', '06:31', '06:32', '06:33'], 'The clock was set back by 30 minutes'],
])('what was missed for the reason %s is told apart, and logged once', async (why, passedMs, times, told) => {
  const lines: string[] = []
  let monotonic = 0
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) })
  await using daily = await openTicking({}, { log, monotonicMs: () => monotonic })
  for (const time of times) {
    monotonic += passedMs
    await daily.tick(`2026-11-20T${time}:00Z`)
  }
  expect(daily.ran.map(({ late }) => late?.why)).toEqual([why])
  expect(lines.filter((line) => line.includes(told))).toHaveLength(1)
})
