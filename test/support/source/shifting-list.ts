/**
 * A list API in memory whose rows change while it is read: after each answer, some leads are inserted,
 * deleted or changed. A test chooses the order of the rows and the kind of paging.
 */

import { type FindUnchanged, recordOf } from '../../../src/upstream/mapping/raw-record.ts'
import type { LeadFilters } from '../../../src/upstream/paging/paging.ts'
import type { RawPage } from '../../../src/upstream/paging/raw-page.ts'
import { type ProfileInput, parseProfile } from '../../../src/upstream/profile/profile.ts'
import type { Source } from '../../../src/upstream/source.ts'
import { paged, sourceOfList } from './listing.ts'

export type Order = 'updated_desc' | 'updated_asc' | 'id'

export interface ShiftingOptions {
  readonly random: () => number
  readonly rows: number
  readonly order: Order
  /** With `cursor`, a cursor points at a row, so that rows cannot shift past it. */
  readonly kind: 'offset' | 'page' | 'cursor'
  readonly changesAPage: number
  readonly hasUpdatedSince: boolean
  /**
   * The number of pipelines that leads move between; sometimes a new one is added. Without it, the list has
   * no filter.
   */
  readonly pipelines?: number
}

interface Row {
  readonly id: string
  readonly pipeline: string
  readonly created: string
  readonly updated: string
}

export interface ShiftingList {
  readonly source: Source
  readonly rows: Map<string, Row>
  readonly clock: { now: Date }
  /** If true, an answer changes nothing. */
  isStill: boolean
}

const START = Date.parse('2026-11-21T06:00:00Z')

export function createShiftingList(options: ShiftingOptions): ShiftingList {
  const { random, kind, order } = options
  const rows = new Map<string, Row>()
  const clock = { now: new Date(START) }
  const newId = (): string => Math.floor(random() * 2 ** 48).toString(16)
  for (let row = 0; row < options.rows; row++) {
    const id = newId()
    const at = new Date(START - 10 * 60_000 - Math.floor(random() * 1e10)).toISOString()
    rows.set(id, { id, pipeline: somePipeline(), created: at, updated: at })
  }
  const source = sourceOfList(parseProfile(profileOf(options), 'test'), (...asked) => {
    const page = pageAt(...asked)
    if (!list.isStill) for (let count = 0; count < options.changesAPage; count++) change()
    return page
  })
  const list: ShiftingList = { source, rows, clock, isStill: false }
  return list

  function change(): void {
    clock.now = new Date(clock.now.getTime() + 50)
    const updated = clock.now.toISOString()
    const ids = [...rows.keys()]
    const id = ids[Math.floor(random() * ids.length)] ?? ''
    const dice = random()
    if (dice < 1 / 3) rows.delete(id)
    else if (dice < 2 / 3)
      rows.set(id, { id, pipeline: otherPipeline(), created: rows.get(id)?.created ?? updated, updated })
    else {
      const fresh = newId()
      rows.set(fresh, { id: fresh, pipeline: otherPipeline(), created: updated, updated })
    }
  }

  function somePipeline(): string {
    return options.pipelines === undefined ? '' : `p${Math.floor(random() * options.pipelines)}`
  }

  function otherPipeline(): string {
    return options.pipelines !== undefined && random() < 0.1 ? 'late' : somePipeline()
  }

  function pageAt(
    filters: LeadFilters,
    position: string | null,
    size: number,
    findUnchanged?: FindUnchanged,
  ): RawPage {
    const { updatedSince = '', pipelineId } = filters
    const matching = [...rows.values()].filter(
      (row) => row.updated >= updatedSince && (pipelineId === undefined || row.pipeline === pipelineId),
    )
    const keyOf = (row: Row): string => (order === 'id' ? row.id : `${row.updated} ${row.id}`)
    matching.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    if (order === 'updated_desc') matching.reverse()
    if (kind === 'cursor') {
      const behind = matching.filter((row) => position === null || keyOf(row) > position)
      const records = behind.slice(0, size).map((row) => recordOf(row, findUnchanged))
      const last = behind[size - 1]
      const next = last === undefined || behind.length <= size ? null : keyOf(last)
      return { records, next, total: matching.length }
    }
    const { records = [], next = null } = paged(kind, matching)(position, size, filters)
    return { records: records.map((row) => recordOf(row, findUnchanged)), next, total: matching.length }
  }
}

function profileOf({ kind, hasUpdatedSince, pipelines }: ShiftingOptions): ProfileInput {
  const common = { param: kind, size_param: 'limit', total: 'total' }
  return {
    name: 'shifting',
    paging: kind === 'cursor' ? { kind, next: 'next', ...common } : { kind, ...common },
    filters: {
      ...(hasUpdatedSince && { updated_since: { param: 'since' } }),
      ...(pipelines !== undefined && { pipeline: 'pipeline' }),
    },
    mapping: {
      lead: {
        id: 'id',
        ...(pipelines !== undefined && { pipeline_id: 'pipeline' }),
        created_at: 'created',
        updated_at: 'updated',
      },
    },
  }
}
