import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseProfile } from '../../src/upstream/profile/profile.ts'
import { inHeader, KEY, PLAIN, type Shape, startForeign } from '../support/source/foreign.ts'
import { probeForeign, recordsOf, syncBy } from '../support/source/probing.ts'
import { openSyncing } from '../support/syncing.ts'

const KEYED: Shape = { ...PLAIN, lets: inHeader('authorization', 'Bearer {key}') }

const problems = ({ gaps }: { gaps: readonly { place: string; problem: string }[] }) =>
  gaps.map(({ place, problem }) => `${place}: ${problem}`).join('\n')

describe('what the probe cannot tell', () => {
  test('a full first page that seems to be the only one is told, with the line to write, and no guess made', async () => {
    await using foreign = await startForeign({
      ...KEYED,
      list: (all) => ({ body: { data: all.slice(0, 100) } }),
    })
    const probed = await probeForeign(`${foreign.url}/leads`)
    expect(problems(probed)).toContain('cannot tell how to go on')
    expect(probed.profile).toBeNull()
    expect(probed.text).toContain('by hand: paging: { kind: page')
    expect(() => parseProfile(parse(probed.text), 'p.yaml')).toThrow('paging: not set')
  })

  test('a field that nothing reads is named with the kind of its values, and without one of them', async () => {
    const record = (number: number) => ({
      ...KEYED.record(number),
      contact: { mail: `p${number}@private.example` },
      opened: 1_760_000_000 + number,
      board: 'north',
      cents: number,
      tags: ['a'],
      isHot: number % 2 === 0,
      mixed: number % 2 === 0 ? 1 : 'x',
    })
    await using foreign = await startForeign({ ...KEYED, record })
    const probed = await probeForeign(`${foreign.url}/leads`)
    expect(problems(probed)).toContain(
      'mapping.lead: nothing reads these fields: contact.mail, opened, board, cents,',
    )
    expect(probed.text).toContain('isHot, mixed')
    expect(probed.text).not.toContain('private.example')
  })

  test('a short list whose total says so is a single page', async () => {
    await using foreign = await startForeign(KEYED, 7)
    const { text } = await probeForeign(`${foreign.url}/leads`)
    expect(await syncBy(text, `${foreign.url}/leads`)).toEqual(recordsOf(foreign))
  })

  test('without a key it says that one is wanted', async () => {
    await using foreign = await startForeign(KEYED)
    expect(problems(await probeForeign(`${foreign.url}/leads`, ''))).toContain('a key is wanted')
  })

  test('an empty list is told as such', async () => {
    await using foreign = await startForeign({ ...KEYED, list: () => ({ body: { result: { leads: [] } } }) })
    expect(problems(await probeForeign(`${foreign.url}/leads`))).toContain('an empty list teaches nothing')
  })

  test('without any list it names what it asked', async () => {
    await using foreign = await startForeign({ ...KEYED, path: '/hidden/away' })
    const { tried, input } = await probeForeign(foreign.url)
    expect(input).toBeNull()
    expect(tried).toContain('GET /leads -> 404')
  })
})

test('a filter of creations is not taken for one of changes: old records that change would be lost', async () => {
  await using foreign = await startForeign({
    ...KEYED,
    record: (number) => {
      const created = new Date(Date.UTC(2026, 0, 1) + number * 86_400_000)
      const updated = new Date(created.getTime() + ((number * 17) % 37) * 86_400_000)
      return { id: `r${number}`, created_at: created.toISOString(), updated_at: updated.toISOString() }
    },
    list: (all, url, request) => {
      const since = url.searchParams.get('since') ?? ''
      return KEYED.list(
        all.filter((record) => String(record.created_at) >= since),
        url,
        request,
      )
    },
  })
  const { profile } = await probeForeign(`${foreign.url}/leads`)
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
    ...KEYED.record(number),
    ...(number % 2 === 0 ? last : { ...last, stage_id: 1, status: 'open' }),
  })
  await using foreign = await startForeign({ ...KEYED, record })
  const { gaps } = await probeForeign(`${foreign.url}/leads`)
  const stages = gaps.filter(({ place }) => place === 'stages')
  expect(stages.map(({ place, problem }) => `${place}: ${problem}`)).toEqual(told)
})

test('the written file names no person', async () => {
  const record = (number: number) => ({
    ...KEYED.record(number),
    name: `Ada${number} Byron`,
    email: `ada${number}@example.com`,
  })
  await using foreign = await startForeign({ ...KEYED, record })
  const { text } = await probeForeign(`${foreign.url}/leads`)
  expect(text).toContain('contact_email: email')
  expect(text).not.toMatch(/Byron|@example/)
})

describe('without a profile', () => {
  test.each([
    ['a list without the paging of the reference service', () => ({ body: { data: [{ id: '1' }] } })],
    ['a list in another place', () => ({ body: { items: [{ id: '1' }] } })],
  ])('%s ends the sync, which names the probe', async (_, list) => {
    await using foreign = await startForeign({ ...KEYED, path: '/api/v1/leads', list })
    await using syncing = await openSyncing(foreign.url, KEY)
    const { outcome, problems } = await syncing.sync()
    expect(outcome).toBe('failed')
    expect(problems[0]?.hint).toContain('leadsheet probe')
  })
})

/** Records with two unique fields, by one of which they can be asked for. */
const WITH_DOCUMENT: Shape = {
  ...PLAIN,
  record: (number) => ({ ...PLAIN.record(number), id: number + 1, documentId: `doc${number}x` }),
}

test('the id is the unique field by which one record can be asked for, and no more is said to be proved', async () => {
  await using foreign = await startForeign({
    ...WITH_DOCUMENT,
    first: (_, url, all) => {
      const id = /^\/leads\/(.+)$/.exec(url.pathname)?.[1]
      const record = all.find(({ documentId }) => documentId === id)
      return id === undefined ? null : record ? { body: { data: record } } : { status: 404, body: {} }
    },
  })
  const { findings } = await probeForeign(`${foreign.url}/leads`)
  expect(findings.find(({ place }) => place === 'mapping.lead.id')).toMatchObject({
    value: 'documentId',
    confidence: 'proved',
    evidence: expect.stringMatching(
      /^unique in .* can be asked for by it; whether it stays .* was not tried$/,
    ),
  })
})

test('an id by which no record can be asked for is likely', async () => {
  await using foreign = await startForeign(WITH_DOCUMENT)
  const { findings } = await probeForeign(`${foreign.url}/leads`)
  expect(findings.find(({ place }) => place === 'mapping.lead.id')).toMatchObject({ confidence: 'likely' })
})
