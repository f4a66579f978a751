import { expect, it } from 'vitest'
import { checkInForce } from '../../../src/cli/checks/machine-check.ts'

const SINCE = '2026-11-21T06:00:00.000Z'
const LATER = '2026-11-21T07:30:00.000Z'

it.each([
  ['are those on the disk', {}, 'ok', 'the settings of 2026-11-21 06:00 UTC'],
  [
    'are not those that nobody had read',
    { changedAt: LATER },
    'warn',
    'the settings of 2026-11-21 06:00 UTC; the file was changed at 2026-11-21 07:30 UTC, and not read since',
  ],
])('doctor says that the settings in force %s', (_name, change, status, found) => {
  expect(checkInForce({ since: SINCE, changedAt: null, ...change })).toMatchObject({ status, found })
})

it('doctor says nothing of settings in force where no daemon runs', () => {
  expect(checkInForce(null)).toBeNull()
})
