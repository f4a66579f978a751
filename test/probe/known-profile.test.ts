/** A probe that ends early and goes on later, and what a written profile says of the records of then. */
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  describeChanges,
  fieldKinds,
  kindLines,
  readKinds,
  readKnown,
} from '../../src/probe/known-profile.ts'
import {
  changedIn,
  inHeader,
  KEY,
  PLAIN,
  partIn,
  plainRecord,
  type Shape,
  startForeign,
} from '../support/source/foreign.ts'
import { probeForeign, probeShape, recordsOf, syncBy } from '../support/source/probing.ts'
import { HUBSPOT_SEARCH } from '../support/source/vendors/hubspot.ts'
import { startVendor } from '../support/source/vendors/vendor.ts'

const LIST: Shape = {
  ...PLAIN,
  path: '/v2/deals',
  lets: inHeader('x-app-key', 'Key {key}'),
  list: (all, url) => {
    const found = changedIn(all, url, 'updated_since', 'updated_at')
    return { body: { data: partIn(found, url, 'offset', ['limit', 20, 100]).items, total: found.length } }
  },
}
const AUTH = { auth: { header: 'X-App-Key', value: 'Key {key}', headers: {} } } as const

/** An upstream that does not answer a request any more once `ends` says so, and whose probe is then over. */
async function startSlow(ends: (url: URL) => boolean) {
  const deadline = new AbortController()
  const foreign = await startForeign({
    ...LIST,
    first: (_, url) => {
      if (ends(url) && !deadline.signal.aborted) deadline.abort()
      return null
    },
  })
  return { foreign, url: foreign.url + LIST.path, deadline: deadline.signal }
}

describe('a probe whose time is over', () => {
  test.each([
    ['pages', (url: URL) => url.searchParams.has('offset')],
    ['id', (url: URL) => /deals\/./.test(url.pathname)],
    ['filters', (url: URL) => url.searchParams.has('updated_since')],
    ['sort', (url: URL) => url.searchParams.has('sort')],
    ['endpoints', (url: URL) => url.pathname.endsWith('/agents')],
  ])('at the step %s leaves what it knows, and the next goes on there', async (step, ends) => {
    const { foreign, url, deadline } = await startSlow(ends)
    await using _ = foreign
    const early = await probeForeign(url, undefined, null, { ...AUTH, deadline, name: 'our crm' })
    expect(early.open).toBe(step)
    expect(early.gaps[0]).toMatchObject({
      place: step,
      problem: expect.stringContaining('the upstream is slow'),
    })
    const known = readKnown(early.text.replace('score: score', 'score: hotness'))
    expect(known).toMatchObject({ open: step, url })

    const before = foreign.requests.length
    const late = await probeForeign(url, undefined, null, { known })
    const asked = foreign.requests.slice(before)
    const fresh = await probeForeign(url, undefined, null, { ...AUTH, name: 'our crm' })
    const whole = parse(fresh.text)
    expect(parse(late.text)).toEqual({
      ...whole,
      mapping: { ...whole.mapping, lead: { ...whole.mapping.lead, score: 'hotness' } },
    })
    expect(late.open).toBeNull()
    expect(readKnown(late.text)).toBeNull()
    expect(asked.length).toBeLessThan(foreign.requests.length - before - asked.length + 1)
    if (step !== 'pages') {
      expect(asked.filter((request) => request.includes('offset='))).toEqual([])
      expect(late.text).toMatch(/kind: offset # proved: .*limit=3&offset=3 -> 200/)
    }
    expect(await syncBy(fresh.text, url)).toEqual(recordsOf(foreign))
  })

  test('before it found a list says so', async () => {
    const { foreign, url, deadline } = await startSlow(() => true)
    await using _ = foreign
    await expect(probeForeign(url, undefined, null, { ...AUTH, deadline })).rejects.toThrow(
      'the upstream is slow',
    )
  })

  test('finds the order of a search by its filter, if it ended between both', async () => {
    await using vendor = await startVendor(HUBSPOT_SEARCH, 330)
    const url = vendor.url + HUBSPOT_SEARCH.path
    const whole = await probeForeign(url, KEY)
    const cut = `# Not asked yet, beginning with: sort. x\n${whole.text.replace(/^limits:\n.*\n/m, '')}`
    const late = await probeForeign(url, KEY, null, { known: readKnown(cut) })
    expect(late.profile?.limits.search_records).toBe(10_000)
    expect(late.profile?.request).toEqual(whole.profile?.request)
  })
})

test('the pipeline of a list is offered by the name of its path, unless the records have one', async () => {
  const record = (number: number) => ({ ...plainRecord(number), pipeline: 'p1' })
  for (const [path, name] of [
    ['/v2/contacts', 'Contacts'],
    ['/crm/v3/objects/deals/search', 'Deals'],
    ['/issues.json', 'Issues'],
    ['/services/data/v61.0/query', 'Data'],
    ['/7', 'Leads'],
  ] as const) {
    const { text } = await probeShape({ ...PLAIN, path })
    expect(text).toContain(
      `before the first sync, because both names stay in reports later:\n    # pipeline_id: { default: ${name} }`,
    )
  }
  expect((await probeShape({ ...PLAIN, record })).text).not.toContain('default:')
})

test('evidence is one short line, however long the address of the list is', async () => {
  await using foreign = await startForeign(PLAIN)
  const fields = Array.from({ length: 60 }, (_, number) => `custom_field_${number}`).join(',')
  const { findings, text } = await probeForeign(`${foreign.url}/leads?fields=${fields}`)
  expect(findings.every(({ evidence }) => evidence.length <= 200 && !evidence.includes('\n'))).toBe(true)
  expect(text).toMatch(/size_max: 100 # proved: GET \/leads\?fields=custom_field_0,.*….*&limit=1000 -> 200/)
})

describe('the fields of the records', () => {
  const before = Array.from({ length: 10 }, (_, number) => ({
    id: number,
    stage: 'new',
    at: '2026-01-01T00:00:00Z',
    tags: ['a'],
    company: { name: 'Adatum', size: null },
    ...(number === 0 && { seldom: 'x' }),
  }))

  test.each<[string, (record: (typeof before)[number]) => object, string]>([
    ['nothing', (record) => record, ''],
    ['a field that came', (record) => ({ ...record, score: 1 }), 'came: score'],
    ['a field that went', ({ stage, ...record }) => record, 'went: stage'],
    [
      'a number that became a text',
      (record) => ({ ...record, id: `r${record.id}` }),
      'changed their type: id (text, was number)',
    ],
    [
      'a time that became a number',
      (record) => ({ ...record, at: 1_767_225_600 }),
      'changed their type: at (number, was instant)',
    ],
    ['a value where there was none', (record) => ({ ...record, company: { name: 'A', size: 4 } }), ''],
    ['a field that few records had', ({ seldom, ...record }) => record, ''],
    [
      'several',
      ({ company: _, ...record }) => ({ ...record, tags: 'a', org: 'Adatum' }),
      'came: org\nwent: company.name, company.size\nchanged their type: tags (text, was list)',
    ],
  ])('tell of %s since a profile was written', (_, change, told) => {
    const written = `# The fields of the records, which \`--check\` compares:\n${kindLines(fieldKinds(before))
      .map((line) => `#   ${line}`)
      .join('\n')}`
    const kinds = readKinds(written)
    expect(kinds).toMatchObject({ id: 'number', at: 'instant', 'company.size': 'empty', seldom: 'rare' })
    expect(kinds && describeChanges(kinds, fieldKinds(before.map(change)))).toBe(told)
  })

  test('are not known of a profile that was written by hand', () => {
    expect(readKinds('name: x\n')).toBeNull()
  })
})
