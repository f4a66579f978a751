import { describe, expect, it } from 'vitest'
import { readAhead } from '../../../src/upstream/paging/read-ahead.ts'
import { openTestSource } from '../../support/source/test-source.ts'
import { body, startUpstream } from '../../support/upstream.ts'

it('a page that says beside its records that it is not whole is given with what it says, without the key', async () => {
  await using upstream = await startUpstream(35)
  const source = openTestSource({ baseUrl: upstream.url })
  const { records } = await source.listLeads({}, null, 10)
  const data = records.map((record) => record.value)
  const page = { next_cursor: 'c2', has_more: true }
  upstream.faults.push(body(JSON.stringify({ data, page, errors: ['shard of test-key is down'] })))
  const partial = await source.listLeads({}, null, 10)
  expect(partial).toMatchObject({ next: 'c2', records: { length: 10 } })
  expect(partial.partialSign).toMatch(/^errors: shard of .* is down$/)
  expect(partial.partialSign).not.toContain('test-key')
})

describe('a list of which records are unchanged', () => {
  it('says which, and as what; they are parsed when they are asked for', async () => {
    await using upstream = await startUpstream(35)
    const source = openTestSource({ baseUrl: upstream.url })
    const first = await source.listLeads({}, null, 10)
    const some = new Map(first.records.slice(0, 7).map(({ high, low }, index) => [`${high} ${low}`, index]))
    const find = (high: number, low: number) => some.get(`${high} ${low}`) ?? null
    const stop = new AbortController()
    const again = await readAhead(source, {}, 10, stop.signal, find)(null)
    stop.abort()
    expect(again.records.map((record) => record.unchangedNo)).toEqual([0, 1, 2, 3, 4, 5, 6, null, null, null])
    expect(again.records.map((record) => record.text)).toEqual(first.records.map((record) => record.text))
    expect(again.records.map((record) => record.value)).toEqual(first.records.map((record) => record.value))
    expect(again).toMatchObject({ next: first.next, total: 35 })
  })

  it('may end with an object that is empty, as PHP writes an empty list, but not begin with it', async () => {
    await using upstream = await startUpstream(35)
    const source = openTestSource({ baseUrl: upstream.url })
    const empty = '{"data":{},"page":{"has_more":false,"next_cursor":null}}'
    const { next } = await source.listLeads({}, null, 10)
    upstream.faults.push(body(empty), body(empty))
    expect(await source.listLeads({}, next, 10)).toMatchObject({ records: [], next: null })
    await expect(source.listLeads({}, null, 10)).rejects.toThrow('has no list of leads at data')
  })
})
