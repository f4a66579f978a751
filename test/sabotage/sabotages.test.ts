/** That the sabotages still fit the source, as a quick check; `npm run test:sabotage` does them. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isThere } from '../support/named-test.ts'
import { applied } from './project-copy.ts'
import { SABOTAGES } from './sabotages.ts'

describe('the sabotages', () => {
  it('each have a name of their own', () => {
    const names = SABOTAGES.map(({ name }) => name)
    expect([...new Set(names)]).toEqual(names)
  })

  it.each(SABOTAGES)('find what they break: $name', ({ edits }) => {
    for (const edit of edits) {
      const source = readFileSync(edit.file, 'utf8')
      expect(applied(source, edit)).not.toBe(source)
    }
  })

  it.each(SABOTAGES)('name tests that there are: $name', ({ caughtBy }) => {
    expect(caughtBy.length).toBeGreaterThan(0)
    expect(caughtBy.filter((test) => !isThere(test))).toEqual([])
  })
})
