// @both-stores
/** The holidays that a report knows of, and how a week that has some is judged. */
import { expect, it } from 'vitest'
import { readInsight, requestOf } from '../../support/reports/request.ts'
import { openEmptyStore } from '../../support/store.ts'

it('a report names the holidays of its trend in each language, and counts those of its period', async () => {
  await using store = await openEmptyStore()
  const lines: string[] = []
  for (const [kind, at, ...wanted] of [
    // The trend of 30 days has Veterans Day too.
    ['day', '2026-11-27', 'US'],
    ['day', '2026-11-28', 'US'],
    // The last working day and the day off after it.
    ['working_day', '2026-11-27', 'US'],
    // The second day of Christmas is a Saturday.
    ['week', '2026-12-28', 'DE'],
    ['week', '2026-12-28', 'DE-BY', '2026-12-24: Betriebsferien', '2026-12-23'],
    ['day', '2026-11-27'],
  ] as const) {
    const now = new Date(`${at}T07:00:00Z`)
    const request = requestOf(kind, now, 'Europe/Berlin', { holidays: wanted })
    const { holidays, holidayCount } = await readInsight(store, request, now, wanted)
    lines.push(`${kind} before ${at} with ${wanted.join(', ')}: ${holidayCount}`)
    lines.push(...(holidays ?? []).map((each) => `  ${JSON.stringify(each)}`))
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/holidays.txt')
})
