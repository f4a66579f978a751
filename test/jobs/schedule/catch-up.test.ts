// @both-stores
/** Scheduled runs that come due while the daemon is down or busy for long. */
import { expect, it } from 'vitest'
import type { CatchUp } from '../../../src/schedule/timing.ts'
import { timing } from '../../support/schedule/schedule.ts'
import { openTicking } from '../../support/schedule/ticking.ts'

/** The settings of an hourly schedule, and the time until which nothing ran. */
const MISSED: readonly (readonly [policy: CatchUp['policy'], windowHours: number, until: string])[] = [
  ...['20T07:01', '20T08:40', '20T09:00', '23T06:30'].flatMap((until) =>
    (['latest', 'all', 'none'] as const).map((policy) => [policy, 24, until] as const),
  ),
  ['latest', 1, '20T09:10'],
]

it('what was missed is made up for as the settings say, with from when to when nothing ran, and what becomes of it', async () => {
  const lines: string[] = []
  for (const [policy, windowHours, until] of MISSED) {
    await using ticking = await openTicking({ timing: timing('0 * * * *'), catchUp: { policy, windowHours } })
    for (const day of ['20T06:31', until]) await ticking.tick(`2026-11-${day}:00Z`)
    lines.push(`${policy} of ${windowHours} hours, missed until ${until}`)
    lines.push(...(await ticking.told()).map((line) => `  ${line}`))
  }
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
