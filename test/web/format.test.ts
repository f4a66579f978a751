/** The format of numbers, sizes and times on the pages of the dashboard. */
import { expect, it } from 'vitest'
import { bytes, clockOf, duration } from '../../src/web/server/format.ts'

it.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [481_600, '482 kB'],
  [24_100_000, '24.1 MB'],
  [3_000_000_000, '3 GB'],
])('writes %i bytes as %s', (size, text) => {
  expect(bytes(size)).toBe(text)
})

it.each([
  [840, '840 ms'],
  [999.7, '1 s'],
  [12_400, '12.4 s'],
  [59_990, '1 min 0 s'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
])('writes %d ms as %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

it('tells times on the clock of the installation, and how far away they are', () => {
  const clock = clockOf('Europe/Vienna', new Date('2026-11-21T12:00:00Z'))
  expect(clock.at('2026-11-21T11:56:00.000Z')).toBe('12:56')
  expect(clock.at('2026-11-20T23:30:00.000Z')).toBe('00:30')
  expect(clock.at('2026-11-20T22:30:00.000Z')).toBe('Fri 20 Nov, 23:30')
  expect(clock.ago('2026-11-21T11:56:00.000Z')).toBe('4 min ago')
  expect(clock.until('2026-11-21T15:00:00.000Z')).toBe('in 3 h')
})

it('tells the times within a sentence, and leaves those that are none', () => {
  const { within } = clockOf('Europe/Vienna', new Date('2026-11-21T12:00:00Z'))
  expect(within('since 2026-11-20 07:00 UTC')).toBe('since Fri 20 Nov, 08:00')
  const quoted = 'the server said: 2026-99-99T07:00:00Z'
  expect(within(quoted)).toBe(quoted)
})
