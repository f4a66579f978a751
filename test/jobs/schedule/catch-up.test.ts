// @both-stores
/** Scheduled runs that come due while the daemon is down or busy for long. */
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
