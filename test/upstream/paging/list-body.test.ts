import { describe, expect, it } from 'vitest'
import type { FindUnchanged, RawRecord } from '../../../src/upstream/mapping/raw-record.ts'
import { parseBody, readListBody } from '../../../src/upstream/paging/list-body.ts'
import type { ProfileInput } from '../../../src/upstream/profile/profile.ts'
import { splitPath } from '../../../src/upstream/values/json.ts'
import { countCases, pick, random, randomJson } from '../../support/random.ts'
import { profileWith } from '../../support/source/test-source.ts'

const SEED = Number(process.env['SEED'] ?? 42)
const PAGES = countCases(300, 2_500)

const profileOf = (leads: string, parts: Partial<ProfileInput> = {}) =>
  profileWith({ envelope: { leads }, ...parts })

interface Sent {
  readonly bytes: Buffer
  readonly path: string
  /** The JSON of each record; null if the page is too odd to separate them. */
  readonly texts: readonly string[] | null
}

const NAMES = ['id', 'name', '__proto__', 'data', 'x"y', '},{"id"', '', 'ü😀', 'items']
/** JSON that `JSON.stringify` does not write. It stands for itself in a text behind a `@`. */
const RAW = ['-0', '1e3', '-12E-2', '9007199254740993', '1e400', '2.0', '"d\\u0061ta"', '{"a":1,"a":[2]}']
const LEAVES = [
  ...['', 'plain', '},{"id":', ']}', '"', '\\', '\n\r\t', '😀', '\u2028', '\uFEFF', '{[', '\\"}]', '\uD800'],
  ...[true, false, null, 0, 1.5, ...RAW.map((raw) => `@${raw}`)],
]

/** Writes a value with some spaces or none. */
function write(next: () => number, value: unknown): string {
  const text = JSON.stringify(value, null, pick(next, ['', '', ' ', '\t']))
  const spaced = next() < 0.5 ? text : text.replaceAll('\n', '\r\n')
  return spaced.replace(/"@((?:[^"\\]|\\.)*)"/g, (_, raw: string) => JSON.parse(`"${raw}"`))
}

/** Writes a page of records inside an envelope, in one of many styles. */
function writePage(next: () => number): Sent {
  const value = () => randomJson(next, LEAVES, NAMES, 3)
  const space = () => pick(next, ['', '', ' ', '\r\n  ', '\t'])
  const first = pick(next, ['id', 'uid', '"}'])
  const items = Array.from({ length: pick(next, [0, 1, 2, 3, 8]) }, (_, index) =>
    write(next, next() < 0.95 ? { [first]: index, more: value(), [pick(next, NAMES)]: value() } : {}),
  )
  const isOdd = next() < 0.15
  const oddity = isOdd ? pick(next, ['no object', 'name twice', 'name escaped'] as const) : null
  const path = isOdd ? 'data' : pick(next, ['', 'data', 'data', 'result.items'])
  const all = oddity === 'no object' ? [...items, '5'] : items
  let text = `[${space()}${all.join(`${space()},${space()}`)}${space()}]`
  for (const name of splitPath(path).toReversed()) {
    const json = oddity === 'name escaped' ? '"d\\u0061ta"' : JSON.stringify(name)
    const members = [`${json}${space()}:${space()}${text}`, `"page":${write(next, value())}`]
    if (next() < 0.5) members.reverse()
    if (next() < 0.2) members.push(`"included": [${items}]`)
    if (oddity === 'name twice') members.push(`${json}: ${write(next, value())}`)
    text = `{${space()}${members.join(`,${space()}`)}${space()}}`
  }
  const mark = next() < 0.1 ? '\uFEFF' : ''
  return { bytes: Buffer.from(`${mark}${space()}${text}${space()}`), path, texts: isOdd ? null : items }
}

/** Returns a position in the bytes, mostly beside a bracket, a comma or the like. */
function somewhere(next: () => number, bytes: Buffer): number {
  const places = [...bytes.keys()].filter((at) => '{}[],:"'.includes(String.fromCharCode(bytes[at] ?? 0)))
  return next() < 0.3 ? Math.floor(next() * bytes.length) : pick(next, places) + Math.floor(next() * 2)
}

/**
 * Returns the result of a reading, with the records apart from the rest of the body; the name of the error if
 * it is refused.
 */
function outcome(read: () => ReturnType<typeof parseBody>, path: string): unknown {
  try {
    const { body, records } = read()
    const list = splitPath(path).reduce<unknown>((value, name) => Object(value)[name], body)
    if (Array.isArray(list)) list.length = 0
    return { body, values: records?.map((record) => record.value) ?? null }
  } catch (thrown) {
    return Object(thrown).name
  }
}

function keyOf({ high, low }: Pick<RawRecord, 'high' | 'low'>): string {
  return `${high} ${low}`
}

function findAmong(unchanged: ReadonlyMap<string, number>): FindUnchanged {
  return (high, low) => unchanged.get(keyOf({ high, low })) ?? null
}

/** Numbers the records of a page by their fingerprints. */
function numberRecords({ bytes, path }: Pick<Sent, 'bytes' | 'path'>): Map<string, number> {
  const { records } = readListBody(bytes, profileOf(path))
  return new Map(records?.map((record, index) => [keyOf(record), index]))
}

describe('the body of a list', () => {
  it(`gives what parsing it as a whole gives, whatever is unchanged of it: ${PAGES} pages (SEED=${SEED})`, () => {
    const next = random(SEED)
    let unchanged = 0
    for (let page = 0; page < PAGES; page++) {
      const sent = writePage(next)
      const share = pick(next, [0, 0.5, 1])
      const some = new Map([...numberRecords(sent)].filter(() => next() < share))
      const profile = profileOf(sent.path)
      const read = readListBody(sent.bytes, profile, findAmong(some))
      for (const record of read.records ?? []) {
        expect(record.unchangedNo).toBe(some.get(keyOf(record)) ?? null)
        if (record.unchangedNo !== null) unchanged++
      }
      if (sent.texts !== null) expect(read.records?.map((record) => record.text)).toEqual(sent.texts)
      expect(
        outcome(() => read, sent.path),
        `page ${page}: ${sent.bytes}`,
      ).toEqual(outcome(() => parseBody(sent.bytes, profile), sent.path))
    }
    expect(unchanged).toBeGreaterThan(PAGES / 2)
  })

  it(`is refused where parsing it as a whole refuses it, though all its records are unchanged (SEED=${SEED})`, () => {
    const next = random(SEED + 1)
    let refused = 0
    for (let page = 0; page < PAGES; page++) {
      const sent = writePage(next)
      const unchanged = numberRecords(sent)
      const at = somewhere(next, sent.bytes)
      const before = sent.bytes.subarray(0, at)
      const rest = sent.bytes.subarray(at)
      const odd = Buffer.from(pick(next, [...'{}[],:"\\ 0x\u0000\uFEFF']))
      const bytes = pick(next, [
        before,
        Buffer.concat([before, rest.subarray(1)]),
        Buffer.concat([before, odd, rest]),
        Buffer.concat([before, odd, rest.subarray(1)]),
        Buffer.concat([before, Buffer.from([0xe2]), rest]),
        Buffer.concat([sent.bytes, before]),
      ])
      const profile = profileOf(sent.path)
      const whole = outcome(() => parseBody(bytes, profile), sent.path)
      const split = outcome(() => readListBody(bytes, profile, findAmong(unchanged)), sent.path)
      expect(split, `page ${page}: ${bytes}`).toEqual(whole)
      if (whole === 'SyntaxError') refused++
    }
    expect(refused).toBeGreaterThan(PAGES / 2)
  })

  it('is not parsed where its records are unchanged', () => {
    const bytes = Buffer.from('{"data":[{"id":never},{"id":parsed}],"total":2}')
    const { body, records } = readListBody(bytes, profileOf('data'), () => 7)
    expect(body).toEqual({ data: [], total: 2 })
    expect(records?.map(({ unchangedNo, text }) => [unchangedNo, text])).toEqual([
      [7, '{"id":never}'],
      [7, '{"id":parsed}'],
    ])
  })

  it('may have a record of 200,000 levels', () => {
    const deep = `{"id":1,"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    const { records } = readListBody(Buffer.from(`{"data":[${deep},{"id":2}]}`), profileOf('data'))
    expect(records?.map((record) => record.value)).toMatchObject([{ id: 1 }, { id: 2 }])
  })

  it('shows what its records say of the list, where the profile looks for it there', () => {
    const bytes = Buffer.from('{"data":[{"id":1,"of":30},{"id":2,"of":30}]}')
    const paging = { kind: 'offset', param: 'skip', total: 'data.0.of' } as const
    expect(readListBody(bytes, profileOf('data', { paging }), () => 1).body).toEqual({
      data: [
        { id: 1, of: 30 },
        { id: 2, of: 30 },
      ],
    })
  })

  it.each([
    ['{"data":{"id":7,"name":"Acme"},"total":1}', [{ id: 7, name: 'Acme' }]],
    ['{"data":{"0":{"id":1},"2":{"id":3}}}', [{ id: 1 }, { id: 3 }]],
    ['{"data":{"10":{"id":1},"9":[]}}', [[], { id: 1 }]],
    ['{"data":[{"id":1,"rate":NaN},{"id":2}]}', [{ id: 1, rate: Infinity }, { id: 2 }]],
  ])(
    'may be a record in the place of a list of one, a list with gaps, or have a bare NaN: %s',
    (text, values) => {
      const { records } = readListBody(Buffer.from(text), profileOf('data'))
      expect(records?.map((record) => record.value)).toEqual(values)
      for (const record of records ?? []) expect(JSON.stringify(JSON.parse(record.text))).toBe(record.text)
    },
  )

  it.each([
    '{"items":[]}',
    '{"data":{}}',
    '{"data":{"0":{"id":1},"next":2}}',
    '{"data":{"name":"Acme"}}',
    '{"data":null}',
    '{}',
    '[]',
    '7',
  ])('has no list at data: %s', (text) => {
    expect(readListBody(Buffer.from(text), profileOf('data')).records).toBeNull()
  })
})
