import { expect, it } from 'vitest'
import type { SyncOptions } from '../../../src/jobs/sync/sync-context.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { folderWith } from '../../support/folder.ts'
import { startService } from '../../support/service.ts'
import { openSyncing, openWorld, type Syncing } from '../../support/syncing.ts'
import { type Fault, startUpstream, status, type Upstream } from '../../support/upstream.ts'

const ALL = { perRun: 1000, concurrency: 4 }
/** One request after the other, so that their order is certain. */
const IN_ORDER = { ...ALL, concurrency: 1 }
const PARTS = ['leads', 'details'] as const
const MINUTE_MS = 60_000

function detailsOf(syncing: Syncing) {
  return syncing.store.db.selectFrom('lead_detail').selectAll().orderBy('lead_id').execute()
}

function activityOf(syncing: Syncing) {
  return syncing.store.db.selectFrom('activity').selectAll().orderBy('lead_id').orderBy('at').execute()
}

/** Returns the ids of the leads that were requested singly, in order. */
function askedOf(upstream: Upstream): string[] {
  return upstream.requests.flatMap(({ path }) => /\/leads\/(\w+)$/.exec(path)?.[1] ?? [])
}

function pass(syncing: Syncing, minutes: number): void {
  syncing.clock.now = new Date(syncing.clock.now.getTime() + minutes * MINUTE_MS)
}

it('details are read from the reference service: enrichment, its extracted columns, and activity', async () => {
  await using service = await startService(folderWith(), new Date('2026-11-21T06:00:00Z'), 2)
  const key = await service.createKey({ name: 'test', scope: 'read' })
  await using syncing = await openSyncing(service.url, key)
  const result = await syncing.sync({ pageSize: 500, details: ALL })
  expect(result).toMatchObject({ outcome: 'ok', complete: true })
  expect(result.details).toEqual({ read: result.leads.seen, notFound: 0, failed: 0 })

  const activity = await activityOf(syncing)
  const details = (await detailsOf(syncing)).map(({ raw, run_id, ...row }) => ({
    ...row,
    activity: activity.filter((entry) => entry.lead_id === row.lead_id).map(({ run_id, ...entry }) => entry),
  }))
  const some = details.filter((_, index) => index % 20 === 0)
  await expect(`${JSON.stringify(some, null, 2)}\n`).toMatchFileSnapshot('golden/details.json')

  const again = await syncing.sync({ pageSize: 500, details: ALL })
  expect(again).toMatchObject({ outcome: 'ok_no_change', details: { read: 0, notFound: 0, failed: 0 } })
})

it('with another profile details are read anew', async () => {
  await using upstream = await startUpstream(5)
  for (const id of upstream.leads.keys()) upstream.details.set(id, { facts: { open_roles: 3 } })
  await using syncing = await openSyncing(upstream.url)
  await syncing.sync({ parts: PARTS, details: ALL })
  const mapping = { ...REFERENCE_PROFILE.mapping, enrichment: ['facts'] }
  await using remapped = await openSyncing(upstream.url, 'test-key', {
    folder: syncing.folder,
    source: { profile: { ...REFERENCE_PROFILE, mapping } },
  })
  expect((await remapped.sync({ parts: PARTS, details: ALL })).details.read).toBe(5)
  expect((await detailsOf(remapped)).map((row) => row.enrichment)).toEqual(Array(5).fill('{"open_roles":3}'))
  expect((await remapped.sync({ parts: PARTS, details: ALL })).details.read).toBe(0)
})

type World = Awaited<ReturnType<typeof openTelling>>

/** Opens some leads, which are told by their numbers. */
async function openTelling(leads: number, lines: string[]) {
  const { upstream, syncing } = await openWorld(leads)
  const ids = [...upstream.leads.keys()]
  const numbers = new Map(ids.map((id, number) => [id, number]))
  let before = new Set<string>()
  return {
    upstream,
    syncing,
    /** Has requests for some leads fail, by default for all. */
    fail(fault: Fault, ...some: readonly number[]): void {
      const failing = ids.filter((_, number) => some.length === 0 || some.includes(number))
      for (const id of failing) upstream.detailFaults.set(id, fault)
    },
    /** Runs a sync, and tells what it found and what is not as it was before. */
    async look(when: string, options: Partial<SyncOptions> = {}): Promise<void> {
      upstream.requests.length = 0
      const result = await syncing.sync({ parts: PARTS, details: IN_ORDER, ...options })
      const { outcome, complete, notBefore, details, problems } = result
      const asked = askedOf(upstream)
      const of = [...new Set(asked)].map((id) => numbers.get(id))
      const kept = await tellKept(syncing, numbers)
      const changed = kept.filter((line) => !before.has(line))
      before = new Set(kept)
      const told = [
        `  ${when}: ${outcome}, complete ${complete}, inserted ${result.leads.inserted}, not before ${notBefore ?? 'now'}`,
        `    ${JSON.stringify(details)}, ${asked.length} requests for ${of.length > 5 ? `${of.length} leads` : of}`,
        ...problems.map(({ part, code, message }) => `    ${part} ${code}: ${message}`),
        ...(changed.length > 6 ? [`    ${changed.length} rows`] : changed),
      ]
      lines.push(...told.map((line) => line.replaceAll(/http[^ ,]+/g, 'ADDRESS')))
    },
  }
}

/** Tells the details, the entries, what is held and which leads are to be read again. */
async function tellKept(syncing: Syncing, numbers: ReadonlyMap<string, number>): Promise<string[]> {
  const { db } = syncing.store
  const leads = await db.selectFrom('lead').select(['no', 'id', 'status', 'updated_at']).execute()
  const minutes = (at: string) => (Date.parse(at) - syncing.clock.now.getTime()) / MINUTE_MS
  const requests = await db.selectFrom('detail_request').selectAll().orderBy('lead_no').execute()
  const held = await db.selectFrom('quarantined_record').selectAll().orderBy('reason').execute()
  const [details, entries] = [await detailsOf(syncing), await activityOf(syncing)]
  const lines = [
    `details ${details.length}, entries ${entries.length}, held ${held.length}`,
    ...details.map(({ lead_id, lead_updated_at, ...row }) => {
      const { status, updated_at } = leads.find(({ id }) => id === lead_id) ?? {}
      const { enrichment, open_roles, is_hiring, funding_total_usd } = row
      const values = JSON.stringify({ enrichment, open_roles, is_hiring, funding_total_usd })
      return `lead ${numbers.get(lead_id)}, ${status} of ${updated_at}: ${values} of ${lead_updated_at}`
    }),
    ...entries.map(({ id, summary }) => `entry ${id.slice(0, 5)}: ${summary}`).sort(),
    ...held.map((row) => `held: ${row.resource} since ${row.first_seen_at}, ${row.reason}`),
    ...requests.flatMap(({ lead_no, due_at, failures, last_error }) => {
      const lead = numbers.get(leads.find(({ no }) => no === lead_no)?.id ?? '')
      return due_at === null
        ? []
        : [`lead ${lead} in ${minutes(due_at)} minutes, failures ${failures}: ${last_error}`]
    }),
  ]
  return lines.map((line) => `    ${line}`)
}

const LATER = '2026-11-20T10:00:00.000Z'
const ENTRY = { type: 'note', at: '2026-11-01T08:00:00.000Z', agent_id: 'a1', summary: 'called' }
const BAD = [{ ...ENTRY, id: '2', at: 'yesterday' }, null]
const WROTE = { ...ENTRY, summary: 'wrote' }
const numbered = (...ids: readonly number[]) => ids.map((id) => ({ ...ENTRY, id: String(id) }))

/** Gives one lead each of these histories in turn. */
async function pastOf(open: (leads: number) => Promise<World>, ...all: readonly (readonly unknown[])[]) {
  const { upstream, syncing, look } = await open(1)
  for (const activity of all) {
    const { id } = upstream.put(0, { updated_at: syncing.clock.now.toISOString() })
    upstream.details.set(id, { activity })
    pass(syncing, 15)
    await look(`a history of ${activity.length}`)
  }
}

/** The stories, told in one golden. */
const STORIES: Readonly<Record<string, (open: (leads: number) => Promise<World>) => Promise<unknown>>> = {
  async 'are read of open leads first, the newest of each first, as many as a run may ask for, and of no deleted ones'(
    open,
  ) {
    const { upstream, syncing, look } = await open(5)
    for (const [number, status] of (['replied', 'won', 'replied', 'lost', 'contacted'] as const).entries())
      upstream.put(number, { status, created_at: `2026-01-0${number + 1}T00:00:00.000Z` })
    const details = { ...IN_ORDER, perRun: 2 }
    for (const run of ['first', 'second', 'third', 'fourth']) await look(`the ${run} run of two`, { details })
    await syncing.store.db.deleteFrom('detail_request').execute()
    await syncing.store.db.updateTable('lead').set({ deleted_at: '2026-11-21T06:00:00.000Z' }).execute()
    await look('all leads are deleted', { parts: ['details'] })
  },
  async 'are read again of leads that changed, or whose content changed and their time did not'(open) {
    const { upstream, look } = await open(9)
    await look('first')
    const { id } = upstream.put(3, { status: 'won', updated_at: LATER })
    const enrichment = { funding: { total_usd: 'about 5 M' }, hiring: { is_hiring: true, open_roles: 4 } }
    upstream.details.set(id, { enrichment })
    await look('a lead changed')
    upstream.put(4, { tags: ['other'] })
    await look('the content of a lead changed', { full: true })
  },
  async 'say of which state of the lead they are, and leave the lead itself to the list'(open) {
    const { upstream, look } = await open(1)
    upstream.details.set(upstream.put(0).id, { status: 'won', updated_at: LATER })
    await look('a newer state')
  },
  'keep of a history what the upstream drops, take what is new, and have each entry once': (open) =>
    pastOf(open, numbered(1, 2, 2), [{ ...ENTRY, id: '2', summary: 'called twice' }, ...numbered(3)]),
  'have each entry of a history once also where the upstream numbers none': (open) =>
    pastOf(open, [ENTRY, WROTE], [WROTE, ENTRY, { ...ENTRY, summary: 'met' }]),
  'have an entry of a history that cannot be read held, told, and forgotten once it can be': (open) =>
    pastOf(open, [...numbered(1), ...BAD], [...numbered(1), ...BAD], numbered(1, 2)),
  async 'that cannot be read keep neither others from being read nor the run from being whole'(open) {
    const { upstream, syncing, look, fail } = await open(20)
    fail(status(500), 6, 7)
    await look('two fail')
    pass(syncing, 9)
    await look('nine minutes later', { parts: ['details'] })
    upstream.detailFaults.clear()
    pass(syncing, 1)
    await look('ten minutes later', { parts: ['details'] })
  },
  async 'that cannot be read are tried again after a week at the latest, however often they failed'(open) {
    const { syncing, look, fail } = await open(1)
    fail(status(404))
    for (const minutes of [10, 40, 160, 640, 2560, 10_080, 10_080, 10_080]) {
      await look('not found')
      pass(syncing, minutes)
    }
  },
  async 'that cannot be read are tried again at once when the lead changes'(open) {
    const { upstream, look, fail } = await open(3)
    fail(status(500), 1)
    await look('one fails')
    upstream.detailFaults.clear()
    upstream.put(1, { updated_at: LATER })
    await look('it changed')
  },
  async 'that cannot be read since the lead is gone, or that are those of another, are no problem'(open) {
    const { upstream, syncing, look } = await open(5)
    await syncing.sync({ parts: ['leads'] })
    const [gone = '', one = '', other] = upstream.leads.keys()
    upstream.leads.delete(gone)
    upstream.details.set(one, { id: other })
    await look('one is gone, one is another', { parts: ['details'] })
  },
  async 'that cannot be read of many leads in a row are the fault of the upstream, and end the run'(open) {
    const { look, fail } = await open(35)
    fail(status(404))
    await look('none is found')
  },
  async 'that cannot be read for the key is refused end the run at once'(open) {
    const { look, fail } = await open(35)
    fail(status(403))
    await look('refused')
  },
  async 'are read on after the wait that the upstream asks for, and none twice'(open) {
    const { upstream, syncing, look } = await open(20)
    await syncing.sync({ parts: ['leads'] })
    upstream.faults.push(...Array(7).fill(() => false), status(429, { 'retry-after': '3600' }))
    await look('to wait for an hour', { parts: ['details'] })
    pass(syncing, 59)
    await look('59 minutes later', { parts: ['details'] })
    pass(syncing, 2)
    await look('61 minutes later', { parts: ['details'] })
  },
}

it('what syncs read of details, what they tell of those that cannot be read, and what they leave', async () => {
  const lines: string[] = []
  for (const [name, happen] of Object.entries(STORIES)) {
    lines.push(`details ${name}`)
    await happen((leads) => openTelling(leads, lines))
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/details.txt')
})

it.each([
  ['was stopped says so', new Error('stop'), { outcome: 'partial', problems: [{ code: 'run_interrupted' }] }],
  [
    'used up its time is whole',
    new DOMException('late', 'TimeoutError'),
    { outcome: 'ok', complete: true, problems: [] },
  ],
])(
  'a run that ends among the details since it %s, and has kept each answer that it got',
  async (_, reason, expected) => {
    const { syncing } = await openWorld(20)
    const stop = new AbortController()
    const onProgress = ({ part, done }: { part: string; done: number }): void => {
      if (part === 'details' && done === 6) stop.abort(reason)
    }
    const options = { parts: PARTS, details: ALL }
    const result = await syncing.sync({ ...options, signal: stop.signal, onProgress })
    expect(result).toMatchObject({ ...expected, details: { notFound: 0, failed: 0 } })
    expect(result.details.read).toBe((await detailsOf(syncing)).length)
    expect((await syncing.sync(options)).details.read).toBe(20 - result.details.read)
  },
)
