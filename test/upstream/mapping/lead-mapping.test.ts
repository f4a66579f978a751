import { describe, expect, it } from 'vitest'
import type { Lead, QuarantinedRecord } from '../../../src/domain/model.ts'
import { pathStep } from '../../../src/upstream/client/request.ts'
import {
  isQuarantined,
  mapAgent,
  mapLead,
  mapPipelineStat,
} from '../../../src/upstream/mapping/lead-mapping.ts'
import { type Profile, type ProfileInput, parseProfile } from '../../../src/upstream/profile/profile.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { parseJson } from '../../../src/upstream/values/json.ts'
import { random } from '../../support/random.ts'

const PROFILE = parseProfile(
  {
    name: 'test',
    paging: { kind: 'none' },
    mapping: {
      lead: {
        id: 'id',
        status: { from: 'status', values: { '1': 'new' } },
        company_name: 'name',
        company_one_liner: 'about',
        company_employees: 'employees',
        score: 'score',
        value_amount: 'worth',
        tags: 'tags',
        created_at: 'created',
        updated_at: 'updated',
        expected_close_at: 'close',
      },
    },
  } satisfies ProfileInput,
  'test',
)

function lead(record: unknown, profile = PROFILE): Lead {
  const mapped = mapLead(record, profile)
  if (isQuarantined(mapped)) throw new Error(mapped.reason)
  return mapped
}

/** Returns the profile with a decimal sign for the field `worth`. */
function withSign(decimal: 'comma' | 'point'): Profile {
  const { mapping } = PROFILE
  const rule = { from: [['worth']], transform: [], decimal }
  return { ...PROFILE, mapping: { ...mapping, lead: { ...mapping.lead, value_amount: rule } } }
}

function quarantinedRecord(record: unknown): QuarantinedRecord {
  const mapped = mapLead(record, PROFILE)
  if (!isQuarantined(mapped)) throw new Error('was mapped')
  return mapped
}

describe('a lead', () => {
  it('needs no more than an id', () => {
    expect(lead({ id: 7 })).toMatchObject({
      id: '7',
      pipelineId: 'default',
      status: 'unknown',
      createdAt: null,
      updatedAt: null,
      statusChangedAt: null,
      tags: [],
    })
  })

  it.each([
    ['2026-12-24', '2026-12-24T00:00:00.000Z', []],
    ['2026-12-24T15:00:00+01:00', '2026-12-24T14:00:00.000Z', []],
    [null, null, []],
    ['', null, []],
    ['0000-00-00', null, []],
    ['end of Q3', null, [{ column: 'expected_close_at', why: 'none', text: 'end of Q3', hasComma: false }]],
  ])('expects its end at %j, which is %j and never a reason to hold it', (close, expectedCloseAt, unsure) => {
    expect(lead({ id: 7, close })).toMatchObject({ expectedCloseAt, unsure })
  })

  it.each([[{}], [{ id: null }], [{ id: '' }], [{ id: true }], [{ id: {} }], [null], [[]], ['x'], [5]])(
    'without an id is held: %j',
    (record) => {
      expect(quarantinedRecord(record)).toMatchObject({
        id: null,
        reason: 'id: nothing at id',
        isWhole: true,
      })
    },
  )

  it.each([
    ['1.234,56', null, 1234.56],
    ['1234,5', null, 1234.5],
    ['1\u202f234\u00a0567,8', null, 1_234_567.8],
    ["1'234", null, 1234],
    ['-1.234.567', null, -1_234_567],
    ['12.500', 12.5, 12_500],
    ['12,500', 12_500, 12.5],
    ['0.125', 0.125, null],
    ['12,34,5', null, null],
    ['1.234,56 €', null, null],
    [1234.56, 1234.56, 1234.56],
  ])('has the number %j as %j, and with a decimal comma as %j', (worth, point, comma) => {
    expect(lead({ id: 1, worth }).valueAmount).toBe(point)
    expect(lead({ id: 1, worth }, withSign('comma')).valueAmount).toBe(comma)
  })

  it.each([
    ['1.234,56', 'none', true],
    ['N/A', 'none', false],
    ['12.500', 'thousands', false],
    ['1250.000', null, false],
    ['12.5', null, false],
    ['', null, false],
    [false, null, false],
  ])('tells of a value of a number column that it may read wrongly: %j is %j', (worth, why, hasComma) => {
    const unsure = why === null ? [] : [{ column: 'value_amount', why, text: worth, hasComma }]
    expect(lead({ id: 1, worth }).unsure).toEqual(unsure)
    expect(lead({ id: 1, worth: '12.500' }, withSign('point')).unsure).toEqual([])
  })

  it('has nothing where the JSON has a bare NaN, and tells in which columns', () => {
    const mapped = lead(
      parseJson('{"id":1,"name":NaN,"worth":-Infinity,"created":undefined,"tags":[NaN,"a"]}'),
    )
    expect(mapped).toMatchObject({ companyName: null, valueAmount: null, createdAt: null })
    expect(mapped.unsure.map(({ column, text }) => [column, text])).toEqual([
      ['created_at', null],
      ['company_name', null],
      ['value_amount', null],
    ])
    expect(JSON.parse(mapped.raw)).toMatchObject({ id: 1, name: null, worth: null })
    expect(quarantinedRecord(parseJson('{"id":NaN,"name":"Acme"}')).id).toBeNull()
  })

  it('has an id of its own where ids differ in what cannot be seen, and is asked for by what was sent', () => {
    const sent = [
      'a',
      'a\u0000',
      'a\u0001',
      'a\u0085',
      'a\uFEFF',
      'a\u202E',
      'a\uD800',
      'a\uDC00',
      'a\\u0001',
      'a\\x',
    ]
    const ids = sent.map((id) => lead({ id }).id)
    expect(new Set(ids).size).toBe(sent.length)
    expect(ids.slice(0, 3)).toEqual(['a', 'a\\u0000', 'a\\u0001'])
    expect(ids.slice(0, 6).map(pathStep)).toEqual(sent.slice(0, 6).map(encodeURIComponent))
    expect(ids.slice(8)).toEqual(['a\\u005cu0001', 'a\\x'])
    expect(ids.slice(8).map(pathStep)).toEqual(sent.slice(8).map(encodeURIComponent))
  })

  it('with a number that is no time as its time is held, and told so', () => {
    const reason = 'updated_at: "639313776000000000" is no plausible time since 1970'
    expect(quarantinedRecord(parseJson('{"id":1,"updated":639313776000000000}')).reason).toContain(reason)
    expect(quarantinedRecord({ id: 1, updated: 817_473_600 }).reason).toContain(
      '817473600 is no plausible time',
    )
  })

  it('with a date that is none is held; one that stands for none is null, and said', () => {
    expect(quarantinedRecord({ id: 1, created: '2026-02-30' })).toMatchObject({
      id: '1',
      reason: 'created_at: "2026-02-30" is not an instant',
    })
    expect(lead({ id: 1, created: '0001-01-01T00:00:00Z', updated: '' })).toMatchObject({
      createdAt: null,
      updatedAt: null,
      cleaned: ['created_at'],
    })
  })

  it.each([
    ['score', '1e60', 'score: 1e+60 is not between -1,000,000,000 and 1,000,000,000'],
    ['employees', '1e400', 'company_employees: 1e400 is not between -1 and 1,000,000,000,000'],
    ['employees', '-7', 'company_employees: -7 is not between -1 and 1,000,000,000,000'],
    [
      'worth',
      '1e16',
      'value_amount: 10000000000000000 is not between -1,000,000,000,000,000 and 1,000,000,000,000,000',
    ],
  ])('with a number that nobody can mean is held: %s %s', (name, number, reason) => {
    expect(quarantinedRecord(parseJson(`{"id":1,"${name}":${number}}`))).toMatchObject({
      id: '1',
      reason,
      isWhole: true,
    })
  })

  it('has the largest numbers that somebody could mean, and no zero below zero', () => {
    expect(lead(parseJson('{"id":1,"worth":-1e15,"score":-0,"employees":-1}'))).toMatchObject({
      valueAmount: -1e15,
      score: 0,
      companyEmployees: -1,
    })
    expect(Object.is(lead(parseJson('{"id":1,"score":-0}')).score, 0)).toBe(true)
  })

  it('has no part of a person, and says so', () => {
    const mapped = lead(parseJson('{"id":1,"employees":12.5,"score":12.5}'))
    expect(mapped).toMatchObject({ companyEmployees: null, score: 12.5 })
    expect(mapped.unsure).toMatchObject([{ column: 'company_employees', why: 'none', text: '12.5' }])
  })

  it.each([
    ['NUL', 'a\u0000b', 'ab'],
    ['a control', 'a\u0007b\u001b[31m', 'ab[31m'],
    ['line breaks and tabs', 'a\r\n\tb', 'a\r\n\tb'],
    ['a lone high surrogate', 'a\uD800b', 'a\uFFFDb'],
    ['a lone low surrogate', 'a\uDC00b', 'a\uFFFDb'],
    ['a bidi override', 'a\u202Egpj.exe', 'agpj.exe'],
    ['a byte order mark', '\uFEFFa', 'a'],
    ['what was no UTF-8', Buffer.from([0x61, 0xff, 0x62]).toString('utf8'), 'a\uFFFDb'],
    ['Hebrew with marks', 'שלום\u200F', 'שלום\u200F'],
    ['joined emoji', '👩\u200D💻', '👩\u200D💻'],
  ])('has clean text, counted where it was not: %s', (_name, sent, stored) => {
    const mapped = lead({ id: 1, name: sent })
    expect(mapped.companyName).toBe(stored)
    expect(mapped.cleaned).toEqual(sent === stored && !sent.includes('\uFFFD') ? [] : ['company_name'])
    expect(JSON.parse(mapped.raw)).toEqual({ id: 1, name: sent })
  })

  it('keeps an id digit for digit: 1.0 as 1, "1.0" and "007" as they stand', () => {
    const sent = parseJson(
      '[{"id":1234567890123456789012},{"id":1.0},{"id":"1.0"},{"id":"007"}]',
    ) as unknown[]
    expect(sent.map((record) => lead(record).id)).toEqual(['1234567890123456789012', '1', '1.0', '007'])
  })

  it('is not fooled by names that every object has', () => {
    const mapped = lead(parseJson('{"id":1,"__proto__":{"polluted":true},"status":"constructor"}'))
    expect(mapped.status).toBe('constructor')
    expect(lead({ id: 1, status: 1 }).status).toBe('new')
    expect(mapped.raw).toContain('"__proto__":{"polluted":true}')
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('nested deeper than 64 levels is held', () => {
    const nest = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
    expect(lead({ id: 1, a: nest(63) }).id).toBe('1')
    expect(quarantinedRecord({ id: 1, a: nest(64) })).toMatchObject({
      id: '1',
      reason: 'nested deeper than 64 levels',
      raw: '{"names":["id","a"]}',
      isWhole: false,
    })
    expect(quarantinedRecord({ id: 1, a: nest(200_000) }).reason).toBe('nested deeper than 64 levels')
  })

  it('of more than 1 MiB is held with how it begins; a text of more than 64 kB is cut and counted', () => {
    const big = quarantinedRecord({ id: 1, name: 'x'.repeat(10_000_000) })
    expect(big).toMatchObject({ id: '1', isWhole: false })
    expect(big.reason).toMatch(/^10000018 bytes long/)
    expect(big.raw.length).toBeLessThan(3_000)
    const long = lead({ id: 1, about: 'ü'.repeat(35_000), name: 'short' })
    expect(long).toMatchObject({ companyName: 'short', cut: 1 })
    expect(Buffer.byteLength(long.companyOneLiner ?? '')).toBeLessThanOrEqual(64 * 1024)
    expect(long.companyOneLiner).toMatch(/^ü+…$/)
    expect(JSON.parse(long.raw).about).toBe(long.companyOneLiner)
  })

  it('keeps its JSON as it was sent, unless spaces alone make it too large or a text in it is cut', () => {
    const mapSent = (sent: string) => mapLead(parseJson(sent), PROFILE, sent)
    const sent = '{ "id": 9007199254740993, "name":"Zo\\u00eb", "score": 1.0 }'
    expect(mapSent(sent)).toMatchObject({ id: '9007199254740993', companyName: 'Zoë', raw: sent })
    const wide = `{"id":1,${' '.repeat(100_000)}"name":"a"}`
    expect(mapSent(wide)).toMatchObject({ raw: wide, cut: 0 })
    expect(mapSent(`{"id":1,${' '.repeat(1024 * 1024)}"name":"a"}`)).toMatchObject({
      raw: '{"id":1,"name":"a"}',
    })
    const long = mapSent(`{"id":1,"about": "${'x'.repeat(70_000)}"}`)
    expect(long).toMatchObject({ cut: 1 })
    expect(long.raw.length).toBeLessThan(70_000)
    expect(mapSent(`{"id":1,"name":"${'x'.repeat(1024 * 1024)}"}`)).toMatchObject({ isWhole: false })
  })

  it('comes through or is held, whatever is sent: 10,000 generated records', () => {
    const seed = Number(process.env['SEED'] ?? 17)
    const next = random(seed)
    const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)] as T
    const value = (depth: number): unknown =>
      pick<() => unknown>([
        () => null,
        () => undefined,
        () => pick([0, -1, 1.5, 2 ** 60, -0, 1e300]),
        () => pick(['', 'N/A', '1,000', 'x'.repeat(100), '2026-11-21', '\u0000', '\uD800', '__proto__']),
        () => next() < 0.5,
        () => (depth > 4 ? [] : [value(depth + 1), value(depth + 1)]),
        () => (depth > 4 ? {} : { [pick(['a', '__proto__', 'constructor', 'iso', 'id'])]: value(depth + 1) }),
      ])()
    const names = ['id', 'status', 'name', 'employees', 'score', 'tags', 'updated', 'other']
    let stored = 0
    for (let row = 0; row < 10_000; row++) {
      const record = Object.fromEntries(names.filter(() => next() < 0.8).map((name) => [name, value(0)]))
      const mapped = mapLead(record, PROFILE)
      const agent = mapAgent(record, REFERENCE_PROFILE)
      const stat = mapPipelineStat(record, 'p', REFERENCE_PROFILE, '2026-11-21T06:00:00.000Z')
      for (const one of [mapped, agent, stat]) JSON.parse(one.raw)
      if (isQuarantined(mapped)) continue
      stored++
      expect(typeof mapped.id, `SEED=${seed} row ${row}`).toBe('string')
      for (const number of [mapped.score, mapped.companyEmployees]) {
        expect(number === null || Math.abs(number) <= 1e12, `SEED=${seed} row ${row}`).toBe(true)
      }
      // Fields without a mapping are kept.
      if (record['other'] !== undefined) expect(mapped.raw).toContain('"other":')
    }
    expect(stored).toBeGreaterThan(500)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})

describe('a name in which nothing can be seen', () => {
  it.each([
    ['spaces', ' \t\u00a0\u3000'],
    ['no width', '\u200b\u200c\u200d\u2060\ufeff'],
    ['controls', '\u0000\u001b\u0085'],
    ['direction controls', '\u200f\u202e\u2068\u2069\u061c'],
    ['fillers', '\u3164\u115f\u2800\u034f'],
    ['marks without a letter', '\u0301\ufe0f'],
  ])('is none: %s', (_kind, name) => {
    expect(lead({ id: '7', name })).toMatchObject({ companyName: null })
    expect(lead({ id: '7', name: `${name}É` }).companyName).toContain('É')
  })
})

describe('a number that nobody can mean', () => {
  it.each([
    [{ totals: { leads: 1e60 } }, 'leads: 1e+60 is not between 0 and 1,000,000,000,000'],
    [{ totals: { won: -1 } }, 'won: -1 is not between 0 and 1,000,000,000,000'],
    [{ win_rate: 1e9 }, 'win_rate: 1000000000 is not between 0 and 100'],
    [
      { stages: [{ stage: 'new', reached: '1e400' }] },
      'stages: reached: 1e400 is not between 0 and 1,000,000,000,000',
    ],
  ])('holds the statistics of a pipeline: %j', (statistics, reason) => {
    expect(mapPipelineStat(statistics, 'p', REFERENCE_PROFILE, '2026-11-21T06:00:00.000Z')).toMatchObject({
      resource: 'pipeline_stat',
      id: 'p',
      reason,
    })
  })

  it('holds an agent', () => {
    const sent = { id: 'a', current_task: { progress: -1e308 } }
    expect(mapAgent(sent, REFERENCE_PROFILE)).toMatchObject({
      resource: 'agent',
      id: 'a',
      reason: 'task_progress: -1e+308 is not between 0 and 100',
    })
  })
})
