// @both-stores
import { expect, it } from 'vitest'
import { type Answer, CURSOR, MAPPING, pagesOf, SINCE } from '../../support/source/listing.ts'
import { type Story, tellSyncs } from '../../support/source/sync-stories.ts'
import { openWorld } from '../../support/syncing.ts'
import { body, status } from '../../support/upstream.ts'

const AT = '2026-11-20T00:00:00.000Z'
const EARLIER = '2026-11-19T00:00:00.000Z'
const LATER = '2026-11-21T05:00:00.000Z'
const [A, B] = ['a', 'b'].map((id) => ({ id, status: 'new', name: 'Acme', updated: AT }))
/** The newest known change, without which a list of changes is not believed. */
const C = { ...A, id: 'c', updated: '2026-11-20T00:00:01.000Z' }
const ALL = [A, B, C]
const MARK = { id: 'a', deleted: true }

const list = (records: readonly unknown[], total: number | null = null): Answer => {
  return () => ({ records, total })
}
const changes = (...records: readonly unknown[]) => {
  return { full: false, overlapMs: 10 * 60_000, answer: list(records) }
}
/** Three whole lists that have a live lead and a mark of its deletion. */
const thrice = (...pages: readonly (readonly unknown[])[]) => ({ answer: pagesOf(...pages), times: 3 })

const MARKS: readonly (readonly [mark: object, rule?: object])[] = [
  [{ deleted: true }],
  [{ is_deleted: 1 }],
  [{ isDeleted: 'true' }],
  [{ _deleted: 'Y' }],
  [{ deleted_at: LATER }],
  [{ deletedAt: 1_795_000_000 }],
  [{ status: 'deleted' }, { from: 'status', values: { deleted: 'true' } }],
  [{ meta: { archived: true } }, { from: 'meta.archived' }],
]
const NO_MARKS = [
  { deleted: false },
  { deleted: null, deleted_at: null, is_deleted: 0 },
  { deleted_at: '0001-01-01T00:00:00Z' },
  { deleted: 'false', deletedAt: '' },
  { deleted: 1 },
  { deleted: '1' },
  { status: 'deleted' },
  { archived: true },
]

const STORIES: readonly Story[] = [
  ...MARKS.map(([mark, deleted]): Story => {
    const profile = { ...SINCE, mapping: { ...MAPPING, ...(deleted && { deleted }) } } as never
    const name = `a mark ${JSON.stringify(mark)}, by the rule ${JSON.stringify(deleted) ?? 'for all'}`
    return [name, profile, list(ALL), changes({ id: 'b', updated: LATER, ...mark }, C)]
  }),
  ...NO_MARKS.map((fields): Story => {
    const change = changes(B, C, { ...A, ...fields, updated: LATER })
    return [`no mark ${JSON.stringify(fields)}`, SINCE, list(ALL), change]
  }),
  [
    'a mark that each whole list has, until the lead comes back without it',
    {},
    list(ALL),
    { answer: list([B, C, { ...A, deleted: true }], 3), times: 3 },
    list(ALL),
  ],
  [
    'marks that fill whole pages in a first load',
    CURSOR,
    pagesOf(ALL, ...['gone', 'a', 'lost'].map((id) => [{ id, updated: LATER, deleted: true }])),
  ],
  ['a mark without a time in a whole list of unproven end', {}, list(ALL), list([MARK, B, C], 9)],
  ...[MARK, { ...MARK, updated: AT }].map((mark): Story => {
    const name = `a mark ${JSON.stringify(mark)} in a whole list, and one in a list of changes`
    return [name, SINCE, list(ALL), list([mark, B, C]), changes({ ...mark, id: 'b' }, C)]
  }),
  ...[{ ...MARK, updated: EARLIER }, { ...MARK, updated: AT }, MARK].flatMap((mark): readonly Story[] => [
    [`${JSON.stringify(mark)} before the live lead on its page`, CURSOR, thrice([mark, ...ALL])],
    [`${JSON.stringify(mark)} behind it on its page`, CURSOR, thrice([...ALL, mark])],
    [`${JSON.stringify(mark)} on a page before`, CURSOR, thrice([mark], ALL)],
    [`${JSON.stringify(mark)} on a page behind`, CURSOR, thrice(ALL, [mark])],
  ]),
  ['an older mark in a list of changes', SINCE, list(ALL), changes({ ...MARK, updated: EARLIER }, B, C)],
  [
    'an older mark alone, in two whole lists',
    SINCE,
    list(ALL),
    { answer: list([{ ...MARK, updated: EARLIER }, B, C]), times: 2 },
  ],
  [
    'a live lead without a time beside a dated mark, on two days',
    {},
    list([
      { id: 'a', status: 'new' },
      { ...MARK, updated: LATER },
    ]),
    { hoursLater: 24 },
  ],
]

it('what each sync finds where the upstream lists leads as deleted, and what it leaves', async () => {
  await expect(await tellSyncs(STORIES)).toMatchFileSnapshot('golden/tombstones.txt')
})

it.each([
  ['answers with the lead that it was merged into', body('{"id":"b","name":"Acme"}'), 'api_not_found'],
  ['leads to it', status(308, { location: '/api/v1/leads/b/' }), 'api_not_found'],
  ['says that it is deleted', body('{"id":"a","deleted":true}'), 'api_not_found'],
  ['leads to another page', status(301, { location: '/login' }), 'api_unexpected'],
  ['leads to another host', status(301, { location: 'https://elsewhere.example/leads/b' }), 'api_unexpected'],
])(
  'a single lead that %s has the error of a lead that is not found, or of a wrong address',
  async (_, fault, code) => {
    const { upstream, syncing } = await openWorld(0)
    upstream.faults.push(fault, fault)
    await expect(syncing.source.fetchSingleLead('a')).rejects.toMatchObject({ code })
    await expect(syncing.source.fetchDetail('a')).rejects.toMatchObject({ code })
  },
)
