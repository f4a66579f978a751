/** Reads the text of a PDF as Chromium writes it, for tests of what is printed. */
import { inflateSync } from 'node:zlib'

/** Returns the text in the order of the pages, without spaces, because a PDF places words without them. */
export function textOfPdf(pdf: Buffer): string {
  const objects = new Map<string, { readonly head: string; readonly stream: string }>()
  for (const [, number = '', body = ''] of pdf.toString('latin1').matchAll(/(\d+) 0 obj\b(.*?)\bendobj/gs)) {
    const [head = '', packed] = body.split(/stream\r?\n(.*)\r?\nendstream/s)
    const isPacked = head.includes('/FlateDecode')
    const stream = packed === undefined ? '' : isPacked ? inflate(Buffer.from(packed, 'latin1')) : packed
    objects.set(number, { head, stream })
  }
  const fonts = new Map<string, ReadonlyMap<number, string>>()
  for (const { head } of objects.values()) {
    for (const [, name = '', number = ''] of head.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const [, map = ''] = /\/ToUnicode (\d+) 0 R/.exec(objects.get(number)?.head ?? '') ?? []
      fonts.set(name, charactersOf(objects.get(map)?.stream ?? ''))
    }
  }
  let font: ReadonlyMap<number, string> | undefined
  let text = ''
  for (const { head, stream } of objects.values()) {
    if (/\/Type|\/Length1/.test(head)) continue
    for (const [, name, glyphs] of stream.matchAll(/\/(F\d+) [\d.]+ Tf|<([\dA-Fa-f]+)>/g)) {
      if (name !== undefined) font = fonts.get(name)
      for (const code of glyphs?.match(/.{4}/g) ?? []) text += font?.get(Number.parseInt(code, 16)) ?? ''
    }
  }
  return text.replace(/\s+/g, '')
}

function inflate(bytes: Buffer): string {
  try {
    return inflateSync(bytes).toString('latin1')
  } catch {
    return ''
  }
}

/** Reads a map from glyphs to characters (PDF 32000-1, 9.10.3). */
function charactersOf(map: string): Map<number, string> {
  const characters = new Map<number, string>()
  const hex = (text: string) => Number.parseInt(text, 16)
  const written = (text: string, more = 0) => {
    const units = (text.match(/.{4}/g) ?? []).map(hex)
    return String.fromCharCode(...units.slice(0, -1), (units.at(-1) ?? 0) + more)
  }
  for (const [, body = ''] of map.matchAll(/beginbfchar(.*?)endbfchar/gs))
    for (const [, code = '', to = ''] of body.matchAll(/<(\w+)>\s*<(\w+)>/g))
      characters.set(hex(code), written(to))
  for (const [, body = ''] of map.matchAll(/beginbfrange(.*?)endbfrange/gs))
    for (const [, from = '', until = '', to = ''] of body.matchAll(/<(\w+)>\s*<(\w+)>\s*<(\w+)>/g))
      for (let code = hex(from); code <= hex(until); code++)
        characters.set(code, written(to, code - hex(from)))
  return characters
}
