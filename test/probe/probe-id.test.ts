import { expect, test } from 'vitest'
import { factsOf, numberIn, type Shape, startForeign } from '../support/source/foreign.ts'
import { probeForeign } from '../support/source/probing.ts'

const LIST: Shape = {
  path: '/leads',
  lets: () => true,
  record: (number) => {
    const { company, status, created, updated } = factsOf(number)
    const times = { created_at: created.toISOString(), updated_at: updated.toISOString() }
    return { id: number + 1, documentId: `doc${number}x`, company, status, ...times }
  },
  idOf: (record) => String(record.documentId),
  list: (all, url) => {
    const offset = numberIn(url, 'offset', 0)
    return { body: { data: all.slice(offset, offset + numberIn(url, 'limit', 20, 100)) } }
  },
}

test('the id is the unique field by which one record can be asked for, and no more is said to be proved', async () => {
  await using foreign = await startForeign({
    ...LIST,
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
  await using foreign = await startForeign(LIST)
  const { findings } = await probeForeign(`${foreign.url}/leads`)
  expect(findings.find(({ place }) => place === 'mapping.lead.id')).toMatchObject({ confidence: 'likely' })
})
