import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/upstream/values/json.ts'

describe('JSON from the wire', () => {
  it('keeps every digit of 1,000 whole numbers beyond 2^53', () => {
    const ids = Array.from({ length: 1000 }, (_, index) =>
      String(9_007_199_254_740_993n + BigInt(index) * 7n),
    )
    expect(parseJson(`[${ids.join(',')}]`)).toEqual(
      ids.map((id) => (Number.isSafeInteger(Number(id)) ? Number(id) : id)),
    )
    expect(JSON.stringify(parseJson(`{"id":${ids[0]}}`))).toBe(`{"id":"${ids[0]}"}`)
  })

  it('reads 1.0 as 1, and the text "1.0" as it stands', () => {
    expect(parseJson('[1.0, 1, "1.0", 9007199254740993.0, -12345678901234567890]')).toEqual([
      1,
      1,
      '1.0',
      '9007199254740993',
      '-12345678901234567890',
    ])
  })

  it('keeps numbers too large for a double as text, where JSON.parse would make Infinity of them', () => {
    expect(parseJson('[1e400, -1e400, 1e10, 1e-400]')).toEqual(['1e400', '-1e400', 1e10, 0])
  })

  it('alters nothing inside texts', () => {
    const text = '{"a\\"9007199254740993":"x \\\\","b":"9007199254740993, 1e400","c":9007199254740993}'
    expect(parseJson(text)).toEqual({ ...JSON.parse(text), c: '9007199254740993' })
  })

  it('makes Infinity, which JSON has not, of a bare NaN and the like, and of nothing in a text', () => {
    const text = '{"a": NaN,"b":[-Infinity ,undefined],"c":"x:NaN,\\",NaN","d":9007199254740993,"e":-inf}'
    const none = Number.POSITIVE_INFINITY
    expect(parseJson(text)).toEqual({
      a: none,
      b: [none, none],
      c: 'x:NaN,",NaN',
      d: '9007199254740993',
      e: none,
    })
    for (const broken of ['NaN', '{NaN:1}', '[NaN 1]', '[xNaN]', '[NaN', '[nothing]'])
      expect(() => parseJson(broken), broken).toThrow(SyntaxError)
  })

  it('reads 200,000 levels without exhausting the stack', () => {
    const deep = `{"id":9007199254740993,"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    expect(parseJson(deep)).toMatchObject({ id: '9007199254740993' })
  })

  it.each([
    ...['', '{"a":', '{"a":"9007199254740993', '{"a":9007199254740993'],
    ...['{9007199254740993:1}', '[0009007199254740993]', '[9007199254740993.]', '[+9007199254740993]'],
  ])('refuses what is cut, and large numbers that JSON does not have: %s', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError)
  })
})
