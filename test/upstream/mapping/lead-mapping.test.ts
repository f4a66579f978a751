import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Lead, QuarantinedRecord } from '../../../src/domain/model.ts'
import { pathStep } from '../../../src/upstream/client/request.ts'
import {
  isQuarantined,
  mapAgent,
  mapLead,
  mapPipelineStat,
} from '../../../src/upstream/mapping/lead-mapping.ts'
import type { Profile, ProfileInput } from '../../../src/upstream/profile/profile.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { parseJson } from '../../../src/upstream/values/json.ts'
import { random, randomJson } from '../../support/random.ts'
import { profileWith } from '../../support/source/test-source.ts'

const PROFILE = profileWith({
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
} satisfies Partial<ProfileInput>)

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

/** Writes a sign that cannot be seen as its number. */
const escapeSign = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`

const UNTOLD: object = lead({ id: 0 })

/** Leads as they are sent, one a line. */
const SENT = readFileSync(join(import.meta.dirname, 'sent.txt'), 'utf8')
  .trimEnd()
  .split('\n')

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

  it('is mapped or held as golden/leads.txt says, its numbers by a decimal point and by a comma', async () => {
    const told = SENT.map((sent) => {
      const shown = [PROFILE, withSign('comma')].map((profile) => {
        const mapped = mapLead(parseJson(sent), profile)
        if (isQuarantined(mapped)) return `held: ${mapped.reason}; whole: ${mapped.isWhole}; id: ${mapped.id}`
        const { raw, ...fields } = mapped
        expect(JSON.parse(raw)).toMatchObject({ id: 7 })
        return JSON.stringify(fields, (name, value) =>
          value === (UNTOLD as Record<string, unknown>)[name] ? undefined : value,
        )
      })
      return [...new Set([sent, ...shown])].join('\n  ')
    })
    await expect(`${told.join('\n')}\n`.replace(/\p{Cf}/gu, escapeSign)).toMatchFileSnapshot(
      'golden/leads.txt',
    )
    // JSON does not tell zero from the one below zero.
    expect(Object.is(lead(parseJson('{"id":1,"score":-0}')).score, 0)).toBe(true)
  })

  it('has an id of its own where ids differ in what cannot be seen, and is asked for by what was sent', () => {
    const unseen = ['', '\u0000', '\u0001', '\u0085', '\uFEFF', '\u202E', '\uD800', '\uDC00']
    const sent = [...unseen, '\\u0001', '\\x'].map((sign) => `a${sign}`)
    const ids = sent.map((id) => lead({ id }).id)
    expect(new Set(ids).size).toBe(sent.length)
    expect(ids.slice(0, 3)).toEqual(['a', 'a\\u0000', 'a\\u0001'])
    expect(ids.slice(0, 6).map(pathStep)).toEqual(sent.slice(0, 6).map(encodeURIComponent))
    expect(ids.slice(8)).toEqual(['a\\u005cu0001', 'a\\x'])
    expect(ids.slice(8).map(pathStep)).toEqual(sent.slice(8).map(encodeURIComponent))
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

  it('comes through or is held, whatever is sent: 1,000 generated records', () => {
    const seed = Number(process.env['SEED'] ?? 17)
    const next = random(seed)
    const leaves = [
      ...[null, undefined, true, 0, -1, 1.5, 2 ** 60, -0, 1e300, '', 'N/A', '1,000', 'x'.repeat(100)],
      ...['2026-11-21', '\u0000', '\uD800', '__proto__'],
    ]
    const value = () => randomJson(next, leaves, ['a', '__proto__', 'constructor', 'iso', 'id'])
    const names = ['id', 'status', 'name', 'employees', 'score', 'tags', 'updated', 'other']
    let stored = 0
    for (let row = 0; row < 1_000; row++) {
      const record = Object.fromEntries(names.filter(() => next() < 0.8).map((name) => [name, value()]))
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
    expect(stored).toBeGreaterThan(50)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})

const MOST = '0 and 1,000,000,000,000'

it.each([
  ['pipeline_stat', { totals: { leads: 1e60 } }, `leads: 1e+60 is not between ${MOST}`],
  ['pipeline_stat', { totals: { won: -1 } }, `won: -1 is not between ${MOST}`],
  ['pipeline_stat', { win_rate: 1e9 }, 'win_rate: 1000000000 is not between 0 and 100'],
  [
    'pipeline_stat',
    { stages: [{ stage: 'new', reached: '1e400' }] },
    `stages: reached: 1e400 is not between ${MOST}`,
  ],
  ['agent', { current_task: { progress: -1e308 } }, 'task_progress: -1e+308 is not between 0 and 100'],
])('a number that nobody can mean holds a %s: %j', (resource, sent, reason) => {
  const at = '2026-11-21T06:00:00.000Z'
  const record = { id: 'a', ...sent }
  const isAgent = resource === 'agent'
  const mapped = isAgent
    ? mapAgent(record, REFERENCE_PROFILE)
    : mapPipelineStat(sent, 'a', REFERENCE_PROFILE, at)
  expect(mapped).toMatchObject({ resource, id: 'a', reason })
})

it.each<[string, object, string | null]>([
  ['is empty where the record has false', { 'company.name': false }, null],
  ['comes from a later path then', { 'company.name': false, name: 'Acme' }, 'Acme'],
  ['may have a dot in its name, written in brackets and quotes', { 'company.name': 'Acme' }, 'Acme'],
])('a field %s', (_, record, companyName) => {
  const company_name = { from: ["['company.name']", 'name'] }
  const profile = profileWith({ mapping: { lead: { id: 'id', status: 'isOpen', company_name } } })
  expect(lead({ id: 'l1', isOpen: false, ...record }, profile)).toMatchObject({
    companyName,
    status: 'false',
  })
})
