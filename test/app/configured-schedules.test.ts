/** The schedules that the settings describe. */
import { describe, expect, it } from 'vitest'
import { schedulesOf } from '../../src/app/configured-schedules.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'

describe('a missed report', () => {
  it.each([
    ['latest', Number.POSITIVE_INFINITY],
    ['all', 31 * 24],
  ])('with catch_up %s is made up for within %s hours', (policy, hours) => {
    const yaml = `reports: [{ name: daily, catch_up: ${policy} }]`
    const config = loadConfig({ cwd: folderWith({ 'leadsheet.yaml': yaml }), env: {} })
    expect(schedulesOf(config).at(-1)?.catchUp).toEqual({ policy, windowHours: hours })
  })
})
