// @both-stores
/** Filters by fields that the profile declares choose the same leads in the store and in a snapshot. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { FilterCondition } from '../../../src/domain/figures.ts'
import { readFigures } from '../../../src/store/figures/report-figures.ts'
import { runReportQueries } from '../../../src/store/queries/report-query.ts'
import { makeSnapshot } from '../../../src/store/snapshot/snapshot.ts'
import { folderWith } from '../../support/folder.ts'
import { openListing, PAGE, paged, records } from '../../support/source/listing.ts'

const signal = new AbortController().signal
const [from, to] = ['2026-10-01T00:00:00.000Z', '2026-11-25T00:00:00.000Z']
const PERIOD = { from, to, timeZone: 'UTC' }

const FIELDS = {
  size: { from: 'size', type: 'number' },
  order: 'segment',
  count: { from: 'count', type: 'integer' },
  vip: { from: 'vip', type: 'boolean' },
} as const

/** Leads l000 to l005. The last one has no values. */
const ROWS = records(6).map((row, n) =>
  n === 5 ? row : { ...row, size: n + 0.5, segment: `it's "${n % 2}"`, count: n * 1e9, vip: n < 2 },
)

const CASES: readonly (readonly [FilterCondition, readonly number[]])[] = [
  [{ field: 'size', type: 'number', min: 1.5, max: 3.5 }, [1, 2, 3]],
  [{ field: 'size', type: 'number', min: null, max: 0.5 }, [0]],
  [{ field: 'count', type: 'integer', min: 3e9, max: null }, [3, 4]],
  [{ field: 'count', type: 'integer', min: null, max: null }, [0, 1, 2, 3, 4]],
  [{ field: 'order', type: 'text', in: [`it's "1"`] }, [1, 3]],
  [{ field: 'order', type: 'text', in: [] }, []],
  [{ field: 'vip', type: 'boolean', in: ['true'] }, [0, 1]],
  [{ field: 'vip', type: 'boolean', in: ['false'] }, [2, 3, 4]],
]

it('by each type, and by several at once', async () => {
  await using listing = await openListing({ ...PAGE, fields: FIELDS }, paged('page', ROWS), folderWith())
  await listing.sync()
  const file = join(folderWith(), 'snapshot.db')
  const job = { madeAt: to, version: '', sourcePaths: {} }
  await makeSnapshot(listing.store, job, file, { group: null, signal })
  const sql = 'SELECT lead_id FROM chosen ORDER BY 1'
  const query = { name: 'q', title: 'q', note: null, place: 'q.sql', sql }
  const cases = CASES.map(([condition, leads]) => ({ conditions: [condition], leads }))
  const two = [CASES[0], CASES[4]].flatMap((each) => (each ? [each[0]] : []))
  for (const { conditions, leads } of [...cases, { conditions: two, leads: [1, 3] }]) {
    const scope = { from, to, filter: { pipelineIds: null, conditions }, stalledDays: 7 }
    const [figures] = await readFigures(listing.store.db, [scope])
    expect([conditions, figures?.get('leads')?.[0]?.value]).toEqual([conditions, leads.length])
    const asked = { ...scope, period: PERIOD, prior: PERIOD, topScore: 80 }
    const { tables, failed } = await runReportQueries(async () => file, [query], asked, { signal })
    expect(failed).toEqual([])
    expect(tables[0]?.rows.flat()).toEqual(leads.map((n) => `l00${n}`))
  }
  const conditions = [{ field: 'size', type: 'text', in: [] }] as const
  const unknown = { from, to, filter: { pipelineIds: null, conditions }, stalledDays: 7 }
  await expect(readFigures(listing.store.db, [unknown])).rejects.toThrow(
    'no sync has read the field size yet',
  )
})
