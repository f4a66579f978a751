import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { VARIABLES } from '../../src/config/environment.ts'
import { API_PREFIX } from '../../src/contract/api.ts'
import { FILTER_COLUMNS } from '../../src/domain/choices.ts'
import { LEAD_FIELDS } from '../../src/domain/lead-fields.ts'
import { LeadsheetError } from '../../src/errors.ts'
import { checkSendPolicy } from '../../src/jobs/reports/send-policy.ts'
import { ENDPOINTS } from '../../src/service/routes/endpoints.ts'
import { TRANSFORMS } from '../../src/upstream/profile/field-rule.ts'
import {
  ACTIVITY_FIELDS,
  AGENT_FIELDS,
  pagingSchema,
  profileSchema,
  STAGE_STAT_FIELDS,
  STAT_FIELDS,
} from '../../src/upstream/profile/profile.ts'
import { REFERENCE_PROFILE } from '../../src/upstream/profile/reference-profile.ts'
import { codeBlocks, readAllText, tableUnder } from '../support/docs/docs.ts'
import { folderWith } from '../support/folder.ts'
import { startService } from '../support/service.ts'
import { openSyncing } from '../support/syncing.ts'

const readme = readAllText()

describe('the documentation', () => {
  it('names no variable of the environment that there is not', () => {
    const known = new Set([...Object.keys(VARIABLES), 'LEADSHEET_CONFIG'])
    const named = [...readme.matchAll(/LEADSHEET_[A-Z_]+/g)].map((match) => match[0])
    expect(named.filter((name) => !known.has(name))).toEqual([])
  })

  it('lists every part of a profile, and no other', () => {
    const named = tableUnder('Part of a profile').flatMap(([cell = '']) => cell.split(', '))
    const parts = new Set(named.map((part) => part.split('.')[0]))
    expect([...parts].sort()).toEqual(Object.keys(profileSchema.shape).sort())
  })

  it('names every field, endpoint and kind of paging of a profile', () => {
    const page = readFileSync('docs/reference/profile.md', 'utf8')
    const { endpoints } = REFERENCE_PROFILE
    const columns = LEAD_FIELDS.map(({ column }) => column)
    const fields = [...columns, ...STAT_FIELDS, ...STAGE_STAT_FIELDS, ...ACTIVITY_FIELDS, ...AGENT_FIELDS]
    const kinds = pagingSchema.options.map(({ shape }) => shape.kind.value)
    const names = [...fields, ...kinds, ...TRANSFORMS, ...Object.keys(endpoints)]
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  it('names every column that filters can ask for, and every number that a threshold can', () => {
    const filtered = tableUnder('Filter column').flatMap(([cell = '']) => cell.split(', '))
    expect(filtered.sort()).toEqual(Object.keys(FILTER_COLUMNS).sort())
    let hint = ''
    try {
      checkSendPolicy('daily', { if_threshold: 'nothing > 0' })
    } catch (thrown) {
      hint = thrown instanceof LeadsheetError ? (thrown.hint ?? '') : ''
    }
    const numbers = hint.replace(/^.*: /, '').replace('.', '').split(', ')
    expect(numbers.length).toBeGreaterThan(10)
    const listed = tableUnder('Number').flatMap(([cell = '']) => cell.split(', '))
    expect(listed.sort()).toEqual(numbers.sort())
  })

  it('lists every endpoint of the reference service with the key that it takes, and no other', () => {
    const listed = tableUnder('Endpoint').map(([name, key, use]) => [
      name,
      key,
      use?.startsWith('an extension'),
    ])
    expect(listed).toEqual(
      // The API's own document has the first six.
      ENDPOINTS.map(({ method, path, scope }, index) => [
        `${method} ${path.slice(API_PREFIX.length)}`,
        scope,
        index >= 6,
      ]),
    )
  })

  it('asks the database questions that it answers', async () => {
    const now = new Date('2026-11-21T06:00:00Z')
    await using service = await startService(folderWith(), now, 20)
    await using syncing = await openSyncing(
      service.url,
      await service.createKey({ name: 'test', scope: 'read' }),
    )
    await syncing.sync({ pageSize: 500 })
    const queries = codeBlocks('sql')
    expect(queries).not.toEqual([])
    for (const query of queries) {
      const { rows } = await syncing.store.db.executeQuery<object>({
        ...sql`SELECT 1`.compile(syncing.store.db),
        sql: query,
      })
      expect(rows.length, query).toBeGreaterThan(0)
    }
  })
})
