/**
 * Where values of JSON begin and end, found in its bytes without parsing. Exact for what is JSON; what is not is
 * passed over somehow, and must be refused by whoever parses the pieces. Inside UTF-8 no byte of another
 * character looks like a bracket or a quote.
 */
import type { FieldPath } from './field-path.ts'

export const COMMA = 0x2c
export const OPEN_BRACE = 0x7b
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d
const CLOSE_BRACE = 0x7d
const QUOTE = 0x22
const BACKSLASH = 0x5c
const BYTE_ORDER_MARK = 0xef

/** Where the value at a path of names begins; null where the path leads nowhere, or through a list. */
export function findValue(bytes: Buffer, path: FieldPath): number | null {
  let at = skipSpace(bytes, bytes[0] === BYTE_ORDER_MARK ? 3 : 0)
  for (const name of path) {
    const value = findMember(bytes, at, name)
    if (value === null) return null
    at = value
  }
  return at
}

/** The index behind the value that begins at an index. No recursion, so that depth cannot exhaust the stack. */
export function endOfValue(bytes: Buffer, start: number): number {
  const first = bytes[start]
  if (first === QUOTE) return endOfString(bytes, start)
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return endOfScalar(bytes, start)
  let depth = 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at) - 1
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at + 1
  }
  return bytes.length
}

/** The index behind the closing quote of the string that begins at an index. */
export function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) at++
  }
  return bytes.length
}

/** The first index from one on that is none of JSON's four kinds of space. */
export function skipSpace(bytes: Buffer, start: number): number {
  let at = start
  while (isSpace(bytes[at])) at++
  return at
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Of an object's members the first of that name; one written with escapes is not found. */
function findMember(bytes: Buffer, open: number, name: string): number | null {
  if (bytes[open] !== OPEN_BRACE) return null
  for (let at = skipSpace(bytes, open + 1); bytes[at] === QUOTE; ) {
    const end = endOfString(bytes, at)
    const value = skipSpace(bytes, skipSpace(bytes, end) + 1)
    if (bytes.toString('utf8', at + 1, end - 1) === name) return value
    const comma = skipSpace(bytes, endOfValue(bytes, value))
    if (bytes[comma] !== COMMA) return null
    at = skipSpace(bytes, comma + 1)
  }
  return null
}

function endOfScalar(bytes: Buffer, start: number): number {
  let at = start
  while (at < bytes.length && !isSpace(bytes[at]) && !isClosing(bytes[at])) at++
  return at
}

function isClosing(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET
}
