/**
 * Texts that PostgreSQL cannot store: a NUL, or half of a surrogate pair, as characters or as escapes in
 * JSON.
 */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { insertRows } from '../../../src/store/db/rows.ts'
import { mapLead } from '../../../src/upstream/mapping/lead-mapping.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { lead, openEmptyStore, openInPostgres, save } from '../../support/store.ts'

describe.skipIf(!hasPostgres)('an odd text in PostgreSQL', () => {
  it('of a lead is the same as in SQLite, and its record keeps its escapes', async () => {
    const sent =
      '{"id":"ld_\\u0000\\ud83d1","pipeline_id":"p\\u0000","status":"new\\udc00","company":{"name":"\\ud83d\\ude80 \\u0000\\ud83d"},"tags":["a\\u0000","\\ude80b"],"created_at":"2026-11-01T00:00:00Z"}'
    const mapped = mapLead(JSON.parse(sent), REFERENCE_PROFILE, sent)
    if ('reason' in mapped) throw new Error(mapped.reason)
    await using plain = await openEmptyStore()
    await using shared = await openInPostgres()
    const rows = []
    for (const store of [plain, shared]) {
      await save(store, [mapped])
      const of = store.db.selectFrom('lead').innerJoin('lead_raw', 'lead_no', 'no')
      rows.push(await of.selectAll('lead').select('raw').executeTakeFirst())
      const { rows: tags } = await sql<{ value: string }>`
        SELECT each.value FROM lead CROSS JOIN json_each(tags) AS each`.execute(store.db)
      expect(tags.map(({ value }) => value)).toEqual(['a', '\uFFFDb'])
    }
    expect(rows[1]).toEqual(rows[0])
    expect(rows[1]).toMatchObject({ id: expect.stringMatching(/^ld_.*1$/), raw: sent })
  })

  it('is stored with U+FFFD in its place, whatever way it comes', async () => {
    await using store = await openInPostgres()
    await save(store, [lead('1')])
    await store.write(async (trx) => {
      await insertRows(trx, 'pipeline', [{ id: 'p\0', name: 'a\uD800b', first_seen_at: '', observed_at: '' }])
      await trx.updateTable('lead').set({ company_name: 'x\0\uDC00' }).execute()
    })
    const pipelines = store.db.selectFrom('pipeline').select(['id', 'name']).where('id', '<>', 'p1')
    expect(await pipelines.execute()).toEqual([{ id: 'p\uFFFD', name: 'a\uFFFDb' }])
    const found = store.db.selectFrom('lead').select('company_name').where('company_name', '=', 'x\0\uDC00')
    expect(await found.execute()).toEqual([{ company_name: 'x\uFFFD\uFFFD' }])
  })
})
