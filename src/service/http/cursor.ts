/** The opaque cursor of the list: where the page before ended, and which list it belongs to. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { LeadQuery } from '../../contract/lead.ts'
import type { LeadPosition } from '../store/lead.ts'
import { ProblemError } from './problem.ts'

const cursorSchema = z.strictObject({ list: z.string(), value: z.number(), id: z.string() })

export function encodeCursor(query: LeadQuery, { value, id }: LeadPosition): string {
  return Buffer.from(JSON.stringify({ list: listOf(query), value, id })).toString('base64url')
}

/** @throws ProblemError invalid_cursor, also when the filters or the sort are not those it was made for */
export function decodeCursor(query: LeadQuery): LeadPosition | null {
  if (query.cursor === undefined) return null
  const cursor = cursorSchema.safeParse(parseCursor(query.cursor))
  if (!cursor.success) {
    throw new ProblemError(
      'invalid_cursor',
      'The cursor is not one that this service gave out; start the list anew.',
    )
  }
  if (cursor.data.list !== listOf(query)) {
    throw new ProblemError(
      'invalid_cursor',
      'The cursor belongs to a list with other filters or another sort; keep them as they were, or start anew.',
    )
  }
  return cursor.data
}

function parseCursor(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** A digest of what makes the list; the limit may change from page to page. */
function listOf({ cursor: _cursor, limit: _limit, ...list }: LeadQuery): string {
  const parts = Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12)
}
