/** A record withholds its ranges only if chance lets right ranges hold so rarely in less than 1 of 100 cases. */
import { expect, it } from 'vitest'
import { isTrusted } from '../../src/insight/record.ts'

it.each([
  // Of the ranges of 95 %: the probabilities are from a table of the binomial distribution.
  [0.95, 11, 0, true],
  [0.95, 12, 8, false],
  [0.95, 12, 9, true],
  [0.95, 60, 52, false],
  [0.95, 60, 53, true],
  [0.95, 365, 335, false],
  [0.95, 365, 336, true],
  // A part of a hit counts as a hit.
  [0.95, 12, 8.1, true],
  [0.8, 12, 5, false],
  [0.8, 12, 6, true],
])('with ranges of %d, %d ranges of which %d held are trusted: %s', (meant, of, hits, expected) => {
  expect(isTrusted({ hits, of }, meant)).toBe(expected)
})
