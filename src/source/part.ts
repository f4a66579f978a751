/**
 * A part of a list, read as if it were a list of its own. Where it is parted by time it ends before the first record
 * that was updated later; which it only does while the records come in that order: else it is read to the list's end.
 */
import type { Instant } from '../model.ts'
import { isHeld } from './mapping.ts'
import type { RawPage, Source } from './open.ts'
import type { RawRecord } from './raw-record.ts'

export interface ListPart {
  readonly pipelineId: string | null
  readonly until: Instant | null
  /** The position of the first page behind it, where positions are numbers. */
  readonly to: string | null
}

/** The same upstream, with the list of leads cut to the part. */
export function openPart(source: Source, part: ListPart): Source {
  const cut = part.until === null ? (page: RawPage) => page : cutAt(source, part.until)
  // Of other lists positions are any text, perhaps one that happens to be a number.
  const isBehind = (position: string | null): boolean =>
    part.to !== null && position !== null && Number(position) >= Number(part.to)
  return {
    ...source,
    async listLeads(filters, position, size, options) {
      // Read ahead of the one that is the last.
      if (isBehind(position)) return { records: [], next: null, total: null }
      const only = part.pipelineId === null ? {} : { pipelineId: part.pipelineId }
      const page = cut(await source.listLeads({ ...filters, ...only }, position, size, options))
      return isBehind(page.next) ? { ...page, next: null, saysMore: false } : page
    },
  }
}

function cutAt(source: Source, until: Instant): (page: RawPage) => RawPage {
  let before: Instant = ''
  let isInOrder = true
  return (page) => {
    const first = page.records[0]
    const last = page.records.at(-1)
    if (first === undefined || last === undefined) return page
    const [from, to] = [updateOf(source, first), updateOf(source, last)]
    isInOrder &&= from !== null && to !== null && before <= from && from <= to
    if (!isInOrder || to === null) return page
    before = to
    if (to < until) return page
    const records = page.records.filter((record) => (updateOf(source, record) ?? '') < until)
    return { ...page, records, next: null, saysMore: false }
  }
}

/** Null where it cannot be told. */
export function updateOf(source: Source, record: RawRecord): Instant | null {
  const lead = source.mapLead(record.value, record.text)
  return isHeld(lead) ? null : lead.updatedAt
}
