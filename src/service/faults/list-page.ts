/** Faults in what a page of a list says, while it stays well-formed. */
import type { FaultRule } from './rules.ts'

interface ListBody {
  data: unknown[]
  page: { next_cursor: string | null; has_more: boolean; total?: number }
}

/** Keeps the page before, for rows that stand in both. */
export interface PageMemory {
  last: readonly unknown[]
}

/**
 * The page with its faults; the text as it was where it is no page of a list.
 * @param cursor that of the request
 */
export function spoilPage(
  text: string,
  faults: readonly FaultRule[],
  cursor: string | null,
  memory: PageMemory,
): string {
  const body: unknown = JSON.parse(text)
  if (!isList(body)) return text
  const rows = body.data
  for (const fault of faults) {
    if (fault.fault === 'duplicate') body.data = [...body.data, ...body.data.slice(0, fault.rows)]
    if (fault.fault === 'shift') {
      const repeated = fault.repeat === 0 ? [] : memory.last.slice(-fault.repeat)
      body.data = [...repeated, ...body.data.slice(fault.drop)]
    }
    if (fault.fault === 'loop')
      body.page = { ...body.page, next_cursor: cursor ?? body.page.next_cursor, has_more: true }
    if (fault.fault === 'total') {
      const { total = 0, ...page } = body.page
      body.page = fault.absent ? page : { ...page, total: Math.max(0, total + fault.add) }
    }
  }
  memory.last = rows
  return JSON.stringify(body)
}

function isList(body: unknown): body is ListBody {
  return (
    typeof body === 'object' && body !== null && 'page' in body && 'data' in body && Array.isArray(body.data)
  )
}
