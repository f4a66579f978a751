/**
 * A source whose list of leads is a function, with a store and a clock, for tests of how a sync reads pages.
 */

import { join } from 'node:path'
import type { SyncResult } from '../../../src/domain/sync.ts'
import { type ErrorCode, LeadsheetError } from '../../../src/errors.ts'
import { sync } from '../../../src/jobs/sync/run-sync.ts'
import type { SyncOptions } from '../../../src/jobs/sync/sync-context.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { mapLead } from '../../../src/upstream/mapping/lead-mapping.ts'
import { type FindUnchanged, recordOf } from '../../../src/upstream/mapping/raw-record.ts'
import type { LeadFilters } from '../../../src/upstream/paging/paging.ts'
import type { RawPage } from '../../../src/upstream/paging/raw-page.ts'
import { type Profile, type ProfileInput, parseProfile } from '../../../src/upstream/profile/profile.ts'
import type { Source } from '../../../src/upstream/source.ts'
import { IN_POSTGRES, openNewStore } from '../store.ts'
import { SILENT, SYNC_OPTIONS } from '../syncing.ts'

/** A page whose records are plain values. By default it is the last page, and tells no total. */
export interface ListedPage extends Partial<Omit<RawPage, 'records'>> {
  readonly records?: readonly unknown[]
}

export type Answer = (position: string | null, size: number, filters: LeadFilters) => ListedPage

export interface Listing extends AsyncDisposable {
  readonly store: Store
  readonly clock: { now: Date }
  /** The function that answers, and the rules that read the answer. A test may change them between syncs. */
  answer: Answer
  profile: ProfileInput
  address: string
  clockAheadMs: number | null
  /** Is awaited before each page is given. */
  beforePage: () => Promise<void>
  /** The positions of the requests, in order. */
  readonly asked: (string | null)[]
  sync(options?: Partial<SyncOptions>): Promise<SyncResult>
}

export const MAPPING = {
  lead: { id: 'id', status: 'status', company_name: 'name', created_at: 'created', updated_at: 'updated' },
} as const

/** Answers each request with an error. */
export const failing =
  (code: ErrorCode): Answer =>
  () => {
    throw new LeadsheetError(code, 'refused')
  }
export const away = failing('api_unreachable')

/** Profiles of lists by page number, by offset and by cursor, and of lists of changes. */
export const PAGE = { paging: { kind: 'page', param: 'page', size_param: 'n' } } as const
export const OFFSET = { paging: { kind: 'offset', param: 'skip', size_param: 'n' } } as const
export const CURSOR = { paging: { kind: 'cursor', param: 'cursor', next: 'next' } } as const
export const SINCE = { filters: { updated_since: { param: 'since' } } } as const

/**
 * @param profile may leave out its mapping and name
 * @param folder holds the store, which is in memory without it
 */
export async function openListing(
  profile: Partial<ProfileInput>,
  answer: Answer,
  folder?: string,
): Promise<Listing> {
  const clock = { now: new Date('2026-11-21T06:00:00Z') }
  const file = folder === undefined ? ':memory:' : join(folder, 'leadsheet.db')
  const store = IN_POSTGRES ? await openNewStore('', clock.now) : await openStore(file, clock.now)
  const listing: Listing = {
    store,
    clock,
    answer,
    profile: { name: 'test', paging: { kind: 'none' }, mapping: MAPPING, ...profile },
    address: 'crm.example.com/leads',
    clockAheadMs: null,
    beforePage: async () => undefined,
    asked: [],
    sync: (options = {}) =>
      sync(
        { source: sourceOf(listing), store, log: SILENT, now: () => clock.now },
        { ...SYNC_OPTIONS, full: true, parts: ['leads'], pageSize: 10, ...options },
      ),
    [Symbol.asyncDispose]: store.close,
  }
  return listing
}

function sourceOf(listing: Listing): Source {
  const profile = parseProfile(listing.profile, 'test')
  const source = sourceOfList(profile, async (filters, position, size, find) => {
    listing.asked.push(position)
    await listing.beforePage()
    const { records = [], ...page } = listing.answer(position, size, filters)
    return { next: null, total: null, ...page, records: records.map((value) => recordOf(value, find)) }
  })
  return { ...source, address: listing.address, clockAheadMs: () => listing.clockAheadMs }
}

type ReadPage = (
  filters: LeadFilters,
  position: string | null,
  size: number,
  findUnchanged?: FindUnchanged,
) => RawPage | Promise<RawPage>

/** Returns a source that has nothing but a list of leads. */
export function sourceOfList(profile: Profile, readPage: ReadPage): Source {
  const usage = { requests: 0, retries: 0, throttled: 0 }
  const none = (): never => {
    throw new Error('not part of the list')
  }
  return {
    profile,
    paging: profile.paging,
    address: 'test/leads',
    stages: [],
    hasUpdatedSince: profile.filters.updated_since !== undefined,
    has: () => false,
    async listLeads(filters, position, size, { signal, findUnchanged } = {}) {
      signal?.throwIfAborted()
      usage.requests++
      return readPage(filters, position, size, findUnchanged)
    },
    mapLead: (raw, sent) => mapLead(raw, profile, sent),
    fetchLead: none,
    fetchDetail: none,
    fetchSingleLead: none,
    createPipeline: none,
    fetchPipelineStats: none,
    mapPipelineStat: none,
    webhooks: { register: none, test: none, list: none, remove: none },
    fetchAgents: none,
    mapAgent: none,
    usage,
    clockAheadMs: () => null,
    askClock: async () => null,
    close: async () => undefined,
  }
}

/** Returns records with ids from `l000` on. */
export function records(count: number, from = 0): { id: string; updated: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `l${String(from + index).padStart(3, '0')}`,
    updated: '2026-11-01T00:00:00.000Z',
  }))
}

/** Answers with a list of rows by page number from 1 or by offset. Its end is an empty page. */
export function paged(kind: 'page' | 'offset', all: readonly unknown[], total: number | null = null): Answer {
  return (position, size) => {
    const at = Number(position ?? (kind === 'page' ? 1 : 0))
    const from = kind === 'page' ? (at - 1) * size : at
    const some = all.slice(from, from + size)
    const next = kind === 'page' ? at + 1 : from + some.length
    return { records: some, next: some.length === 0 ? null : String(next), total }
  }
}

/** Answers with these pages, each of which names the next one. */
export function pagesOf(...pages: readonly (readonly unknown[])[]): Answer {
  return (position) => {
    const at = Number(position ?? 0)
    return { records: pages[at] ?? [], next: at + 1 < pages.length ? String(at + 1) : null }
  }
}
