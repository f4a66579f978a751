import { describe, expect, test } from 'vitest'
import { instant, wholeNumber } from '../../src/cli/command.ts'

describe('a time', () => {
  test.each([
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T08:15Z', '2026-11-20T08:15:00.000Z'],
    ['2026-11-20T08:15:30.5+02:00', '2026-11-20T06:15:30.500Z'],
  ])('%s is %s', (given, expected) => {
    expect(instant(given)).toBe(expected)
  })

  test.each(['yesterday', '2026-11-20T08:15', '2026-13-01', '2026-02-30', '20.11.2026', ''])(
    '%j is none',
    (given) => {
      expect(() => instant(given)).toThrow('Expected a date')
    },
  )
})

describe('a whole number', () => {
  test('is read', () => {
    expect(wholeNumber(0, 100)('100')).toBe(100)
  })

  test.each(['101', '-1', '1.5', '1e1', '', 'ten'])('%j is none from 0 to 100', (given) => {
    expect(() => wholeNumber(0, 100)(given)).toThrow('Expected a whole number from 0 to 100.')
  })
})
