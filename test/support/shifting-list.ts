/**
 * A list API in memory whose rows come, go and change while it is read: after each answer some leads are
 * inserted, deleted or touched. The order of its rows and how it pages are the test's choice.
 */
import { mapLead } from '../../src/source/mapping.ts'
import type { RawPage, Source } from '../../src/source/open.ts'
import { type ProfileInput, parseProfile } from '../../src/source/profile.ts'
import { type FindKnown, recordOf } from '../../src/source/raw-record.ts'

export type Order = 'updated_desc' | 'updated_asc' | 'id'

export interface ShiftingOptions {
  readonly random: () => number
  readonly rows: number
  readonly order: Order
  readonly kind: 'offset' | 'page'
  readonly changesAPage: number
  readonly hasUpdatedSince: boolean
}

interface Row {
  readonly id: string
  readonly created: string
  readonly updated: string
}

export interface ShiftingList {
  readonly source: Source
  readonly rows: Map<string, Row>
  readonly clock: { now: Date }
  /** Answers without changing anything afterwards. */
  isStill: boolean
}

const START = Date.parse('2026-11-21T06:00:00Z')

export function createShiftingList(options: ShiftingOptions): ShiftingList {
  const { random, kind, order } = options
  const rows = new Map<string, Row>()
  const clock = { now: new Date(START) }
  const usage = { requests: 0, retries: 0, throttled: 0 }
  const profile = parseProfile(profileOf(kind, options.hasUpdatedSince), 'test')
  const newId = (): string => Math.floor(random() * 2 ** 48).toString(16)
  for (let row = 0; row < options.rows; row++) {
    const id = newId()
    const at = new Date(START - 10 * 60_000 - Math.floor(random() * 1e10)).toISOString()
    rows.set(id, { id, created: at, updated: at })
  }
  const list: ShiftingList = { source: sourceOf(), rows, clock, isStill: false }
  return list

  function change(): void {
    clock.now = new Date(clock.now.getTime() + 50)
    const updated = clock.now.toISOString()
    const ids = [...rows.keys()]
    const id = ids[Math.floor(random() * ids.length)] ?? ''
    const dice = random()
    if (dice < 1 / 3) rows.delete(id)
    else if (dice < 2 / 3) rows.set(id, { id, created: rows.get(id)?.created ?? updated, updated })
    else {
      const fresh = newId()
      rows.set(fresh, { id: fresh, created: updated, updated })
    }
  }

  function pageAt(since: string, position: string | null, size: number, findKnown?: FindKnown): RawPage {
    const matching = [...rows.values()].filter((row) => row.updated >= since)
    const keyOf = (row: Row): string => (order === 'id' ? row.id : `${row.updated} ${row.id}`)
    matching.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    if (order === 'updated_desc') matching.reverse()
    const at = Number(position ?? (kind === 'page' ? 1 : 0))
    const from = kind === 'page' ? (at - 1) * size : at
    const records = matching.slice(from, from + size).map((row) => recordOf(row, findKnown))
    const next = kind === 'page' ? at + 1 : from + records.length
    return { records, next: records.length === 0 ? null : String(next), total: matching.length }
  }

  function sourceOf(): Source {
    const none = (): never => {
      throw new Error('not part of the list')
    }
    return {
      profile,
      stages: [],
      hasUpdatedSince: options.hasUpdatedSince,
      has: () => false,
      async listLeads(filters, position, size, { findKnown } = {}) {
        usage.requests++
        const page = pageAt(filters.updatedSince ?? '', position, size, findKnown)
        if (!list.isStill) for (let count = 0; count < options.changesAPage; count++) change()
        return page
      },
      mapLead: (raw, sent) => mapLead(raw, profile, sent),
      fetchLead: none,
      fetchDetail: none,
      ...{ fetchSingleLead: none, readLeadRecord: none },
      createPipeline: none,
      fetchPipelineStats: none,
      mapPipelineStat: none,
      webhooks: {
        ...{ register: none, list: none, show: none, rotate: none },
        ...{ test: none, enable: none, listAttempts: none, remove: none },
      },
      fetchAgents: none,
      mapAgent: none,
      usage,
      clockAheadMs: () => null,
      close: async () => undefined,
    }
  }
}

function profileOf(kind: ShiftingOptions['kind'], hasUpdatedSince: boolean): ProfileInput {
  return {
    name: 'shifting',
    paging: { kind, param: kind, size_param: 'limit', total: 'total' },
    filters: hasUpdatedSince ? { updated_since: { param: 'since' } } : {},
    mapping: { lead: { id: 'id', created_at: 'created', updated_at: 'updated' } },
  }
}
