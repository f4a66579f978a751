import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { WireLeadList } from '../../src/contract/lead.ts'
import { FAULTS, type FaultsInput, parseFaults, readFaults } from '../../src/service/faults/rules.ts'
import { codeBlocks, tableUnder } from '../support/docs/docs.ts'
import { folderWith } from '../support/folder.ts'
import { type Answer, startService, type TestService } from './support/service.ts'

type Rule = FaultsInput['faults'][number]

function faulty(...faults: Rule[]): Promise<TestService> {
  return startService({ historyDays: 3, faults: parseFaults({ faults }, 'test') })
}

function pageIn(answer: Answer): WireLeadList {
  return answer.json as WireLeadList
}

/** Returns the statuses of so many requests for the list, one after another. */
async function statuses(service: TestService, count: number, path = '/leads?limit=1'): Promise<number[]> {
  const all: number[] = []
  for (let asked = 0; asked < count; asked++) all.push((await service.get(path)).status)
  return all
}

describe('faults of the service', () => {
  it('strike the requests that their rule counts, and no other path', async () => {
    await using service = await faulty(
      { fault: 'status', status: 503, path: '/leads', hits: [2, 3] },
      { fault: 'status', status: 500, path: '/agents/*', every: 2, after: 2 },
    )
    expect(await statuses(service, 4)).toEqual([200, 503, 503, 200])
    expect(await statuses(service, 5, '/agents/status')).toEqual([200, 200, 200, 500, 200])
    expect(await statuses(service, 3, '/leads/nobody')).toEqual([404, 404, 404])
  })

  it('strike by a chance that follows from the seed', async () => {
    const rule = { fault: 'status', status: 503, probability: 0.5 } as const
    await using first = await faulty(rule)
    await using second = await faulty(rule)
    const struck = await statuses(first, 40)
    expect(await statuses(second, 40)).toEqual(struck)
    expect(struck.filter((status) => status === 503).length).toBeGreaterThan(8)
    expect(struck.filter((status) => status === 200).length).toBeGreaterThan(8)
  })

  it('answer with a status, its headers and its body', async () => {
    await using service = await faulty(
      { fault: 'status', status: 429, headers: { 'Retry-After': '7' }, hits: [1] },
      { fault: 'status', status: 500, body: '"as told"', hits: [2] },
      { fault: 'status', status: 204, hits: [3] },
      { fault: 'content_type', type: 'text/plain', hits: [4] },
    )
    expect(await service.get('/leads')).toMatchObject({
      status: 429,
      headers: { 'retry-after': '7' },
      json: { status: 429 },
    })
    expect(await service.get('/leads')).toMatchObject({ status: 500, json: 'as told' })
    expect(await service.get('/leads')).toMatchObject({ status: 204, text: '' })
    expect((await service.get('/leads')).headers['content-type']).toBe('text/plain')
  })

  it.each([
    ['reset', true, 'ECONNRESET'],
    ['cut', false, 'UND_ERR_SOCKET'],
  ] as const)('break off a body: %s, in chunks: %s', async (fault, chunked, code) => {
    await using service = await faulty({ fault, at_byte: 50, chunked })
    await expect(service.get('/leads')).rejects.toMatchObject({ code })
  })

  it('stall without holding up the end of the service', async () => {
    const service = await faulty({ fault: 'stall' })
    const asked = service.get('/leads').catch((thrown: unknown) => thrown)
    await new Promise((resolve) => setTimeout(resolve, 50))
    await service[Symbol.asyncDispose]()
    // A request that came only after the end had begun is refused.
    expect(await asked).not.toMatchObject({ status: 200 })
  })

  it('spoil a page: rows twice, rows missed, rows again, the same cursor, a lying total', async () => {
    await using sound = await faulty({ fault: 'status', status: 503, path: '/nowhere' })
    await using service = await faulty(
      { fault: 'duplicate', rows: 2, path: '/leads', hits: [1] },
      { fault: 'shift', drop: 1, repeat: 2, path: '/leads', hits: [2] },
      { fault: 'loop', path: '/leads', hits: [3] },
      { fault: 'total', add: -3, path: '/leads', hits: [3] },
      { fault: 'total', absent: true, path: '/leads', hits: [4] },
    )
    const idsOf = ({ data }: WireLeadList): string[] => data.map((lead) => lead.id)
    const first = await sound.leads('limit=5')
    const second = await sound.leads(`limit=5&cursor=${first.page.next_cursor}`)
    expect(idsOf(await service.leads('limit=5'))).toEqual([...idsOf(first), ...idsOf(first).slice(0, 2)])
    const shifted = await service.leads(`limit=5&cursor=${first.page.next_cursor}`)
    expect(idsOf(shifted)).toEqual([...idsOf(first).slice(-2), ...idsOf(second).slice(1)])
    const looped = await service.leads(`limit=5&cursor=${first.page.next_cursor}`)
    expect(looped.page).toEqual({
      next_cursor: first.page.next_cursor,
      has_more: true,
      total: (first.page.total ?? 0) - 3,
    })
    expect(pageIn(await service.get('/leads?limit=5')).page).not.toHaveProperty('total')
  })
})

describe('a file of faults', () => {
  it('is read as YAML or JSON', () => {
    const folder = folderWith({
      'faults.yaml': 'faults:\n  - fault: delay\n    ms: 5\n    hits: [2]\n',
      'faults.json': '{"seed": 3, "faults": [{"fault": "loop"}]}',
    })
    expect(readFaults(`${folder}/faults.yaml`).faults).toEqual([
      { fault: 'delay', ms: 5, hits: [2], path: '/**' },
    ])
    expect(readFaults(`${folder}/faults.json`)).toEqual({ seed: 3, faults: [{ fault: 'loop', path: '/**' }] })
  })

  it('is in the documentation: an example that is taken, and every fault', () => {
    const example = codeBlocks('yaml').find((block) => block.includes('fault:')) ?? ''
    expect(parseFaults(parse(example), 'documentation').faults.length).toBeGreaterThan(2)
    const named = tableUnder('Fault').flatMap(([names = '']) => names.match(/\w+/g) ?? [])
    expect(named.sort()).toEqual([...FAULTS].sort())
  })

  it('is refused with each mistake, its place and what is accepted', () => {
    const faults = [
      { fault: 'statsu', status: 500 },
      { fault: 'status', status: 99 },
      { fault: 'delay', ms: 0 },
      { fault: 'loop', path: 'leads', hit: [1] },
    ]
    expect(() => parseFaults({ faults }, 'faults.yaml')).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: expect.stringMatching(
          /faults\.yaml {2}faults\[0\]\.fault: fault "statsu" is not one of status, delay.*faults\[1\]\.status: .*faults\[2\]\.ms: a whole number from 1.*faults\[3\]\.path: a path that begins with \/.*faults\[3\]: .*"hit"/s,
        ),
      }),
    )
    expect(() => readFaults('nowhere.yaml')).toThrow('nowhere.yaml cannot be read: ENOENT')
    const folder = folderWith({ 'bad.yaml': 'faults: [' })
    expect(() => readFaults(`${folder}/bad.yaml`)).toThrow('bad.yaml cannot be read')
  })
})
