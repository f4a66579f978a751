/** The schedules that the settings describe, and reports whose period is not what their schedule lets people expect. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { periodWarnings, schedulesOf } from '../../src/app/configured-schedules.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { PeriodKind } from '../../src/domain/figures.ts'
import { folderWith } from '../support/folder.ts'
import { checkExamples } from '../support/process/transcript.ts'

const NOW = new Date('2026-11-26T12:00:00Z')

function load(yaml: string) {
  return loadConfig({ cwd: folderWith({ 'leadsheet.yaml': yaml }), env: {} })
}

it.each([
  ['latest', Number.POSITIVE_INFINITY],
  ['all', 31 * 24],
])('a missed report with catch_up %s is made up for within %s hours', (policy, hours) => {
  const config = load(`reports: [{ name: daily, catch_up: ${policy} }]`)
  expect(schedulesOf(config).at(-1)?.catchUp).toEqual({ policy, windowHours: hours })
})

it('a period that surprises is warned of', () =>
  checkExamples(join(import.meta.dirname, 'golden/period-warnings.txt'), (input) => {
    const [, schedule = '', period = '', more = ''] = /^(.*) with the period (\w+)\n?(.*)$/.exec(input) ?? []
    const report = `reports: [{ name: daily, schedule: "${schedule}" }]`
    const config = load(`time_zone: Europe/Berlin\n${more}\n${report}`)
    return periodWarnings(config, new Map([['daily', period as PeriodKind]]), NOW)
  }))
