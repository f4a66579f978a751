import { describe, expect, it } from 'vitest'
import type { LeadDetail } from '../../../src/domain/model.ts'
import { mapDetail } from '../../../src/upstream/mapping/detail-mapping.ts'
import type { ProfileInput } from '../../../src/upstream/profile/profile.ts'
import { profileWith } from '../../support/source/test-source.ts'

const PROFILE = profileWith({
  mapping: {
    lead: { id: 'id', updated_at: 'changed' },
    enrichment: 'facts',
    activity: {
      items: 'history.events',
      fields: {
        at: ['time'],
        type: { from: 'kind', values: { moved: 'status_changed' } },
        summary: { all: ['title', 'text'], transform: 'join' },
        to_status: 'stage.name',
      },
    },
  },
} satisfies Partial<ProfileInput>)

function mapped(record: unknown, profile = PROFILE): LeadDetail {
  const detail = mapDetail(record, '7', profile)
  if ('reason' in detail) throw new Error(detail.reason)
  return detail
}

describe('the details of a lead', () => {
  it('are found where the profile says, its entries by its rules', () => {
    const events = [
      { time: 1790000000, kind: 'moved', title: 'Moved on', text: 'after a call', stage: { name: 'won' } },
    ]
    const detail = mapped({ id: 7, changed: '2026-11-20', facts: { size: 3 }, history: { events } })
    expect(detail).toMatchObject({
      updatedAt: '2026-11-20T00:00:00.000Z',
      enrichment: '{"size":3}',
      quarantined: [],
    })
    expect(detail.activity).toEqual([
      {
        id: expect.stringMatching(/^sha256:[0-9a-f]{24}$/),
        at: '2026-09-21T14:13:20.000Z',
        type: 'status_changed',
        agentId: null,
        summary: 'Moved on after a call',
        fromStatus: null,
        toStatus: 'won',
      },
    ])
  })

  it('are kept as they came where the profile says nothing of them', () => {
    const record = { id: '7', facts: { size: 3 }, history: { events: [{ time: 1 }] } }
    expect(mapped(record, profileWith({}))).toEqual({
      leadId: '7',
      updatedAt: null,
      enrichment: null,
      activity: [],
      quarantined: [],
      raw: JSON.stringify(record),
    })
  })

  it.each([
    ['nothing', { id: '7' }],
    ['null', { id: '7', facts: null, history: null }],
    ['nothing in the lists', { id: '7', history: { events: [] } }],
  ])('may have %s', (_name, record) => {
    expect(mapped(record)).toMatchObject({ enrichment: null, activity: [], quarantined: [] })
  })

  it.each([
    ['no record', 'gone'],
    ['a list', [{ id: '7' }]],
    ['nothing', undefined],
    ['of another lead', { id: '8' }],
    ['with a history that is no list', { id: '7', history: { events: { first: 1 } } }],
    ['over 1 MiB', { id: '7', texts: Array(30).fill('x'.repeat(60_000)) }],
  ])('are refused as a whole when they are %s', (_name, record) => {
    expect(mapDetail(record, '7', PROFILE)).toMatchObject({ reason: expect.any(String) })
  })
})

describe('an entry of the activity', () => {
  const entry = { time: '2026-11-01T08:00:00Z', kind: 'note', title: 'Called' }
  const read = (...events: unknown[]) => mapped({ id: '7', history: { events } })

  it('without an id has the same one whenever it is read, and another than any other entry', () => {
    const [first, second, third] = read(entry, { ...entry, title: 'Wrote' }, { ...entry }).activity
    expect(third).toEqual(first)
    expect(second?.id).not.toBe(first?.id)
    expect(
      read({ title: 'Called', unread: true, kind: 'note', time: '2026-11-01T09:00:00+01:00' }).activity,
    ).toEqual([first])
  })

  it.each([
    ['without a time', { kind: 'note' }, 'at: nothing there'],
    ['with a time that is none', { time: 'soon' }, 'at: "soon" is not an instant'],
    ['that is null', null, 'at: nothing there'],
    ['that is text', 'called', 'at: nothing there'],
  ])('%s is held with the reason, and the others come through', (_name, bad, reason) => {
    const { activity, quarantined } = read(entry, bad)
    expect(activity).toHaveLength(1)
    expect(quarantined).toEqual([
      { resource: 'activity', id: '7', reason, raw: JSON.stringify(bad), isWhole: true },
    ])
  })
})
