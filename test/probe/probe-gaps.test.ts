import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseProfile } from '../../src/upstream/profile/profile.ts'
import {
  filtered,
  inHeader,
  KEY,
  PLAIN,
  plainRecord,
  type Shape,
  startForeign,
} from '../support/source/foreign.ts'
import { probeForeign, probeShape, problemsOf, recordsOf, syncBy } from '../support/source/probing.ts'
import { openSyncing } from '../support/syncing.ts'

const KEYED: Shape = { ...PLAIN, lets: inHeader('authorization', 'Bearer {key}') }

describe('what the probe cannot tell', () => {
  test('a full first page that seems to be the only one is told, with the line to write, and no guess made', async () => {
    const probed = await probeShape({ ...KEYED, list: (all) => ({ body: { data: all.slice(0, 100) } }) })
    expect(problemsOf(probed)).toContain('cannot tell how to go on')
    expect(probed.profile).toBeNull()
    expect(probed.text).toContain('by hand: paging: { kind: page')
    expect(() => parseProfile(parse(probed.text), 'p.yaml')).toThrow('paging: not set')
  })

  test('a field that nothing reads is proposed with its type, and with an example unless it is personal', async () => {
    const record = (number: number) => ({
      ...plainRecord(number),
      contact: { mail: `p${number}@private.example` },
      opened: 1_760_000_000 + number,
      board: 'north',
      cents: number,
      tags: ['a'],
      isHot: number % 2 === 0,
      mixed: number % 2 === 0 ? 1 : 'x',
    })
    const probed = await probeShape({ ...KEYED, record })
    expect(problemsOf(probed)).toContain(
      'fields: nothing reads 6 further fields; the profile proposes them as columns',
    )
    expect(probed.text.slice(probed.text.indexOf('#fields:'))).toMatchInlineSnapshot(`
      "#fields:
      #  contact_mail: { from: contact.mail, type: text, personal: true } # in 230 of 230 records
      #  opened: { from: opened, type: integer } # 1760000000
      #  board: { from: board, type: text } # "north"
      #  cents: { from: cents, type: integer } # 0
      #  is_hot: { from: isHot, type: boolean } # true
      #  mixed: { from: mixed, type: text } # 1

      # Webhooks are not looked for. Where the upstream has them, this tells how; then what changes is here within seconds:
      #webhook:
      #  verify: { scheme: standard } # or hmac, stripe, token: as its documentation has it
      #  id: { header: webhook-id }
      #  type: type
      #  time: timestamp
      #  lead: data.id
      #  deleted: [ lead.deleted ]

      # The fields of the records, which \`--check\` compares:
      #   text: ["id","company","email","status","contact.mail","board"]
      #   number: ["score","opened","cents"]
      #   instant: ["created_at","updated_at"]
      #   list: ["tags"]
      #   boolean: ["isHot"]
      #   mixed: ["mixed"]
      "
    `)
    expect(probed.text).not.toContain('private.example')
  })

  test('a short list whose total says so is a single page', async () => {
    await using foreign = await startForeign(KEYED, 7)
    const { text } = await probeForeign(`${foreign.url}/leads`)
    expect(await syncBy(text, `${foreign.url}/leads`)).toEqual(recordsOf(foreign))
  })

  test('without a key it says that one is wanted', async () => {
    expect(problemsOf(await probeShape(KEYED, '', ''))).toContain('a key is wanted')
  })

  test('an empty list is told as such', async () => {
    const probed = await probeShape({ ...KEYED, list: () => ({ body: { result: { leads: [] } } }) })
    expect(problemsOf(probed)).toContain('an empty list teaches nothing')
  })

  test('without any list it names what it asked', async () => {
    await using foreign = await startForeign({ ...KEYED, path: '/hidden/away' })
    const { tried, input } = await probeForeign(foreign.url)
    expect(input).toBeNull()
    expect(tried).toContain('GET /leads -> 404')
  })
})

test('a filter of creations is not taken for one of changes: old records that change would be lost', async () => {
  const { profile } = await probeShape({
    ...filtered((query) => (record) => String(record.created_at) >= (query.get('since') ?? '')),
    record: (number) => {
      const created = new Date(Date.UTC(2026, 0, 1) + number * 86_400_000)
      const updated = new Date(created.getTime() + ((number * 17) % 37) * 86_400_000)
      return { id: `r${number}`, created_at: created.toISOString(), updated_at: updated.toISOString() }
    },
  })
  expect(profile?.paging.kind).toBe('offset')
  expect(profile?.filters.updated_since).toBeUndefined()
})

describe('the list of leads', () => {
  test.each(['/contacts', '/items/leads'])('is found at %s below the base', async (path) => {
    await using foreign = await startForeign({ ...KEYED, path })
    const { text, input } = await probeForeign(foreign.url)
    expect(input?.endpoints?.leads).toBe(path)
    expect(await syncBy(text, foreign.url)).toEqual(recordsOf(foreign))
  })

  test.each([
    ['an index', { contacts: '/sales/v9/persons', health: '/health' }],
    [
      'an OpenAPI document',
      {
        openapi: '3.1.0',
        servers: [{ url: '/sales' }],
        paths: { '/v9/persons': { get: {} }, '/v9/persons/{id}': { get: {} } },
      },
    ],
  ])('is found by %s', async (_, body) => {
    await using foreign = await startForeign({
      ...KEYED,
      path: '/sales/v9/persons',
      others: { '/': { body } },
    })
    const { input } = await probeForeign(foreign.url)
    expect(input?.endpoints?.leads).toBe('/sales/v9/persons')
  })

  test('is found behind a base that has a path and a query of its own', async () => {
    await using foreign = await startForeign({ ...KEYED, path: '/app/v2/leads' })
    const url = `${foreign.url}/app/v2?workspace=7`
    const { text, input } = await probeForeign(url)
    expect(input?.endpoints?.leads).toBe('/leads')
    expect(await syncBy(text, url)).toEqual(recordsOf(foreign))
    expect(foreign.requests.at(-1)).toContain('workspace=7')
  })
})

test.each([
  [{ stage_id: 4, status: 'won' }, ['stages: status tells what is won or lost, and stage_id does not']],
  [{ stage: 'Closed Lost', status: 'lost' }, []],
  [{ stage_id: 4, status: 'open' }, []],
])('of records such as %j, it is told where else their end is: %j', async (last, told) => {
  const record = (number: number) => ({
    ...plainRecord(number),
    ...(number % 2 === 0 ? last : { ...last, stage_id: 1, status: 'open' }),
  })
  await using foreign = await startForeign({ ...KEYED, record })
  const { gaps } = await probeForeign(`${foreign.url}/leads`)
  const stages = gaps.filter(({ place }) => place === 'stages')
  expect(stages.map(({ place, problem }) => `${place}: ${problem}`)).toEqual(told)
})

test('the written file names no person', async () => {
  const record = (number: number) => ({
    ...plainRecord(number),
    name: `Ada${number} Byron`,
    email: `ada${number}@example.com`,
  })
  const { text } = await probeShape({ ...KEYED, record })
  expect(text).toContain('contact_email: email')
  expect(text).not.toMatch(/Byron|@example/)
})

test.each([
  ['a list without the paging of the reference service', () => ({ body: { data: [{ id: '1' }] } })],
  ['a list in another place', () => ({ body: { items: [{ id: '1' }] } })],
])('without a profile %s ends the sync, which names the probe', async (_, list) => {
  await using foreign = await startForeign({ ...KEYED, path: '/api/v1/leads', list })
  await using syncing = await openSyncing(foreign.url, KEY)
  const { outcome, problems } = await syncing.sync()
  expect(outcome).toBe('failed')
  expect(problems[0]?.hint).toContain('leadsheet probe')
})

/** Records with two unique fields, by one of which they can be asked for. */
const WITH_DOCUMENT: Shape = {
  ...PLAIN,
  record: (number) => ({ ...plainRecord(number), id: number + 1, documentId: `doc${number}x` }),
}

test('the id is the unique field by which one record can be asked for, and no more is said to be proved', async () => {
  const { findings } = await probeShape({
    ...WITH_DOCUMENT,
    first: (_, url, all) => {
      const id = /^\/leads\/(.+)$/.exec(url.pathname)?.[1]
      const record = all.find(({ documentId }) => documentId === id)
      return id === undefined ? null : record ? { body: { data: record } } : { status: 404, body: {} }
    },
  })
  expect(findings.find(({ place }) => place === 'mapping.lead.id')).toMatchObject({
    value: 'documentId',
    confidence: 'proved',
    evidence: expect.stringMatching(
      /^unique in .* can be asked for by it; whether it stays .* was not tried$/,
    ),
  })
})

test('an id by which no record can be asked for is likely', async () => {
  const { findings } = await probeShape(WITH_DOCUMENT)
  expect(findings.find(({ place }) => place === 'mapping.lead.id')).toMatchObject({ confidence: 'likely' })
})
