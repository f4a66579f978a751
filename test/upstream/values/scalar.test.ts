import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isPlaceholderTime, toInstant, toNumber } from '../../../src/upstream/values/scalar.ts'

const SENT = readFileSync(join(import.meta.dirname, 'sent.txt'), 'utf8')
  .trimEnd()
  .split('\n')

it('the values of sent.txt are the times and numbers that golden/scalars.txt has, or none', async () => {
  const told = SENT.map((sent) => {
    const value: unknown = JSON.parse(sent)
    const time = toInstant(value) ?? (isPlaceholderTime(value) ? 'stands for none' : 'none')
    return `${sent}\n  time: ${time}; number: ${toNumber(value)}\n`
  })
  await expect(told.join('')).toMatchFileSnapshot('golden/scalars.txt')
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
    expect([toInstant(value), toNumber(value)]).toEqual([null, null])
})

it('times in the form in which they are kept are what a closer look makes of them', () => {
  const pad = (value: number): string => String(value).padStart(2, '0')
  const times = Array.from(
    { length: 62 },
    (_, number) => `${pad(number % 27)}:${pad(number)}:${pad(61 - number)}.0${pad(number)}Z`,
  )
  for (const year of [1969, 1970, 1999, 2000, 2023, 2024, 2100, 2199, 2200]) {
    for (let month = 0; month <= 13; month++) {
      for (let day = 0; day <= 32; day++) {
        const text = `${year}-${pad(month)}-${pad(day)}T${times[(year + month * 31 + day) % 62]}`
        // A leading space is ignored, and makes the function use its slow way.
        if (toInstant(text) !== toInstant(` ${text}`))
          expect(toInstant(text), text).toBe(toInstant(` ${text}`))
      }
    }
  }
})
