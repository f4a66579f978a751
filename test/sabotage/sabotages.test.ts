/** The sabotages still fit the source: a quick check; `npm run test:sabotage` tries them. */
import { describe, expect, it } from 'vitest'
import { listMisfits, SABOTAGES } from './sabotages.ts'

describe('the sabotages', () => {
  it('each have a name of their own', () => {
    const names = SABOTAGES.map(({ name }) => name)
    expect([...new Set(names)]).toEqual(names)
  })

  it.each(SABOTAGES)('find what they break, and the tests that notice: $name', (sabotage) => {
    expect(sabotage.caughtBy.length).toBeGreaterThan(0)
    expect(listMisfits(sabotage)).toEqual([])
  })
})
