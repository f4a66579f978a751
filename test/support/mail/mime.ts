/** Parses the structure of a message from its raw text, without the library that wrote it. */

/** `text/plain`, or `{ 'multipart/alternative': [parts] }`. */
export type Structure = string | { readonly [multipart: string]: readonly Structure[] }

export function structureOf(message: Buffer | string): Structure {
  const source = message.toString('latin1')
  const end = source.indexOf('\r\n\r\n')
  const head = source.slice(0, end).replace(/\r\n[ \t]+/g, ' ')
  const [, type = '', rest = ''] = /^content-type: *([\w/.+-]+)(.*)$/im.exec(head) ?? []
  const boundary = /boundary="?([^";]+)"?/i.exec(rest)?.[1]
  if (boundary === undefined) return type
  const parts = source.slice(end).split(`\r\n--${boundary}`).slice(1)
  if (parts.pop()?.trim() !== '--') throw new Error(`${type} is not closed`)
  return { [type]: parts.map((part) => structureOf(part.slice('\r\n'.length))) }
}
