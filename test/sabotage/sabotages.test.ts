/** A quick check that the sabotages still fit the source; `npm run test:sabotage` runs them. */
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
