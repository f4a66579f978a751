import { describe, expect, it } from 'vitest'
import { isHeld, mapAgent, mapLead, mapPipelineStat } from '../../src/source/mapping.ts'
import { generateLead } from '../bench/generate.ts'
import { randomFrom } from '../support/random.ts'

const SEED = Number(process.env['SEED'] ?? 1)
const LEAD = generateLead(1)
const STAT = {
  pipeline_id: 'p1',
  name: 'EU',
  status: 'active',
  as_of: '2026-11-20T08:00:00Z',
  totals: { leads: 3, open: 1, won: 1, lost: 1, disqualified: 0 },
  stages: [{ stage: 'won', current: 1, reached: 1, conversion: 0.5, median_hours: 2.5 }],
  open_value: { amount: 10, currency: 'EUR' },
  won_value: null,
  win_rate: 0.5,
}
const AGENT = {
  id: 'a1',
  name: 'Scout',
  kind: 'discovery',
  status: 'running',
  status_changed_at: '2026-11-20T08:00:00Z',
  current_task: { type: 'discover', pipeline_id: 'p1', lead_id: null, started_at: null, progress: 0.4 },
  last_seen_at: '2026-11-20T08:00:00Z',
  last_24h: { tasks: 4, errors: 0 },
  last_error: { at: '2026-11-20T07:00:00Z', message: 'no answer' },
}

describe('an instant', () => {
  it.each([
    ['2026-11-20T08:15:00Z', '2026-11-20T08:15:00.000Z'],
    ['2026-11-20T08:15:00.5Z', '2026-11-20T08:15:00.500Z'],
    ['2026-11-20T08:15:00.123456789Z', '2026-11-20T08:15:00.123Z'],
    ['2026-11-20T09:15:00+01:00', '2026-11-20T08:15:00.000Z'],
    ['2026-11-20T00:15:00-08:00', '2026-11-20T08:15:00.000Z'],
    ['2026-11-20T08:15Z', '2026-11-20T08:15:00.000Z'],
  ])('%s is %s', (text, instant) => {
    expect(mapLead({ ...LEAD, created_at: text })).toMatchObject({ createdAt: instant })
  })

  it.each([
    '2026-11-20T08:15:00',
    '2026-11-20',
    'yesterday',
    '',
    '2026-13-01T00:00:00Z',
    1_700_000_000,
    null,
    {},
  ])('%j is none, and the record is held', (value) => {
    const held = mapLead({ ...LEAD, created_at: value })
    expect(held).toMatchObject({ resource: 'lead', recordId: LEAD.id })
    expect(held).toHaveProperty('reason', expect.stringMatching(/^created_at: /))
  })
})

describe('an identifier', () => {
  it.each([
    ['ld_1', 'ld_1'],
    ['007', '007'],
    [7, '7'],
    ['9007199254740993', '9007199254740993'],
  ])('%j is %j', (id, text) => {
    expect(mapLead({ ...LEAD, id })).toMatchObject({ id: text })
  })

  it.each(['', null, undefined, {}, [], true])('%j is none, and the record is held without one', (id) => {
    expect(mapLead({ ...LEAD, id })).toMatchObject({ resource: 'lead', recordId: null })
  })
})

describe('a lead', () => {
  it('with nothing but what identifies and dates it has null for the rest', () => {
    const { id, pipeline_id, status, created_at, updated_at } = LEAD
    const bare = mapLead({ id, pipeline_id, status, created_at, updated_at })
    expect(bare).toMatchObject({
      companyName: null,
      contactEmail: null,
      score: null,
      valueAmount: null,
      valueCurrency: null,
      agentId: null,
      tags: [],
      statusChangedAt: updated_at,
    })
  })

  it.each([
    [{ company: null, contact: null, value: null, tags: null, agent_id: null }],
    [{ company: {}, contact: {}, value: {}, agent_id: 7 }],
    [{ value: { amount: null, currency: 'EUR' } }],
    [{ value: { amount: 5 }, new_field: { deep: [1] } }],
  ])('is read with %j', (change) => {
    expect(isHeld(mapLead({ ...LEAD, ...change }))).toBe(false)
  })

  it.each([
    [{ score: '87' }, 'score'],
    [{ value: { amount: '5', currency: 'EUR' } }, 'value.amount'],
    [{ company: 'Acme' }, 'company'],
    [{ tags: 'a,b' }, 'tags'],
    [{ status: '' }, 'status'],
  ])('is held whole with %j, and the field is named', (change, field) => {
    const held = mapLead({ ...LEAD, ...change })
    expect(held).toHaveProperty('reason', expect.stringContaining(`${field}: `))
    expect(held).toHaveProperty('raw', JSON.stringify({ ...LEAD, ...change }))
  })

  it.each([null, 5, 'text', [], [LEAD]])('that is %j is held', (raw) => {
    expect(mapLead(raw)).toMatchObject({ recordId: null, raw: JSON.stringify(raw) })
  })
})

describe('a reading of statistics', () => {
  it('has no value where its amount or currency is missing', () => {
    const odd = { ...STAT, open_value: { amount: 5 }, won_value: { currency: 'EUR' } }
    expect(mapPipelineStat(odd)).toMatchObject({ openValue: null, wonValue: null })
    expect(mapPipelineStat(STAT)).toMatchObject({ openValue: { amount: 10, currency: 'EUR' } })
  })

  it.each([
    [{ totals: { leads: 1.5 } }],
    [{ stages: [{ stage: 'won', current: 1e20, reached: 1 }] }],
    [{ as_of: null }],
  ])('is held with %j, which no column takes', (change) => {
    expect(mapPipelineStat({ ...STAT, ...change })).toMatchObject({
      resource: 'pipeline_stat',
      recordId: 'p1',
    })
  })
})

describe('an agent', () => {
  it('is read with what there is, and named by its id without a name', () => {
    expect(mapAgent({ id: 7, status: 'idle' })).toMatchObject({ id: '7', name: '7', taskType: null })
    expect(mapAgent({ ...AGENT, last_error: { at: null, message: null } })).toMatchObject({
      lastErrorAt: null,
      lastErrorMessage: null,
    })
  })
})

describe('any record', () => {
  it(`is read or held, and never an exception (1,000 of each kind, SEED=${SEED})`, () => {
    const random = randomFrom(SEED)
    let read = 0
    for (let row = 0; row < 1_000; row++) {
      for (const [map, model] of [
        [mapLead, LEAD],
        [mapPipelineStat, STAT],
        [mapAgent, AGENT],
      ] as const) {
        const raw = damaged(model, random)
        const mapped = map(raw)
        expect(mapped.raw).toBe(JSON.stringify(raw))
        if (!isHeld(mapped)) read++
        else expect(mapped.reason).not.toBe('')
      }
    }
    expect(read).toBeGreaterThan(300)
    expect(read).toBeLessThan(2_700)
  })
})

const ODD = [
  null,
  undefined,
  '',
  'text',
  0,
  -1,
  1.5,
  1e300,
  true,
  [],
  {},
  [null],
  { a: {} },
  '2026-11-20T08:00:00Z',
]

/** The record with one to three values anywhere in it replaced or left out. */
function damaged(record: object, random: () => number): unknown {
  const copy: Record<string, unknown> = structuredClone({ ...record })
  for (let times = 1 + Math.floor(random() * 3); times > 0; times--) {
    let place = copy
    for (;;) {
      const keys = Object.keys(place)
      const key = keys[Math.floor(random() * keys.length)]
      if (key === undefined) break
      const inner = place[key]
      if (typeof inner === 'object' && inner !== null && random() < 0.5) {
        place = inner as Record<string, unknown>
        continue
      }
      if (random() < 0.2) delete place[key]
      else place[key] = ODD[Math.floor(random() * ODD.length)]
      break
    }
  }
  return copy
}
