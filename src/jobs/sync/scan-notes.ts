/**
 * Notes about the records of a scan: values that could not be read for sure, and fields that differ from those of
 * earlier scans.
 */
import type { Instant, Lead, UnsureValue } from '../../domain/model.ts'
import type { FieldDrift, FieldType } from '../../domain/sync.ts'
import type { Trx } from '../../store/db/store.ts'
import type { Scan } from '../../store/sync/scan.ts'
import { saveFields } from '../../store/sync/schema-drift.ts'
import type { RawRecord } from '../../upstream/mapping/raw-record.ts'
import type { MappedRecords } from './map-page.ts'

export type ScanNotes = ReturnType<typeof createScanNotes>

/** @param fieldNews what the sync tells of the declared fields */
export function createScanNotes(fieldNews: readonly string[], mode: Scan['mode']) {
  const watch = createDriftWatch()
  const unsure = createUnsureTally()
  const marked = new Set<string>()
  return {
    note({ records, recordOf, leads, deleted }: MappedRecords): void {
      for (const id of mode === 'full' ? deleted.keys() : []) marked.add(id)
      // Quarantined records are left out. Because they never count as unchanged, they would fill the sample
      // of changed records in each scan, and their fields would look new.
      const isMapped = new Set(recordOf.values())
      unsure.note(leads)
      watch.observe(records.filter((record) => record.unchangedNo !== null || isMapped.has(record)))
    },
    warnings: (): string[] => [
      ...(marked.size === 0 ? [] : [`records that the list marks as deleted: ${marked.size}`]),
      ...fieldNews,
      ...unsure.describe(),
    ],
    /** Called once, after the scan has ended. Returns the fields that differ from earlier scans. */
    saveDrift: watch.save,
  }
}

function createUnsureTally() {
  const tallies = new Map<
    string,
    { readonly first: UnsureValue; readonly ids: Set<string>; hasComma: boolean }
  >()
  return {
    note(leads: readonly Lead[]): void {
      for (const { id, unsure } of leads) {
        for (const value of unsure) {
          const key = `${value.column} ${value.why}`
          const tally = tallies.get(key) ?? { first: value, ids: new Set(), hasComma: false }
          tally.ids.add(id)
          tally.hasComma ||= value.hasComma
          tallies.set(key, tally)
        }
      }
    },
    describe: (): string[] =>
      [...tallies.values()].map(({ first: { column, why, text }, ids, hasComma }) => {
        const leads = ids.size === 1 ? '1 lead' : `${ids.size} leads`
        const quoted = text === null ? 'a bare NaN or Infinity' : JSON.stringify(text)
        const rule = `decimal: comma into mapping.lead.${column} of the profile`
        if (why === 'thousands') {
          return `${column} was read with a decimal point in ${leads}, such as ${quoted} of ${[...ids][0]}; if the point parts thousands, write ${rule}, otherwise decimal: point`
        }
        const comma = hasComma ? `; for a decimal comma, write ${rule}` : ''
        return `${column} is empty in ${leads} whose value cannot be read, such as ${quoted} of ${[...ids][0]}${comma}`
      }),
  }
}

// Watches which fields the records of a scan have. A sample of each page is enough to find changes.

const RECORDS_A_PAGE = 25
/** Small, because unchanged records are parsed only for this purpose. */
const UNCHANGED_A_PAGE = 10
const DEPTH_MAX = 5
/** An object with more names than this counts as a map whose names are data, not as a record with fields. */
const NAMES_MAX = 100
const PATHS_MAX = 1_000

function createDriftWatch() {
  const fields = new Map<string, { readonly types: Set<FieldType>; count: number; nulls: number }>()
  let observed = 0
  let chance = 1

  /** The distance between the items varies, because similar rows may repeat at a fixed distance. */
  function sampleOf<T>(items: readonly T[], size: number): T[] {
    const step = Math.max(1, Math.ceil(items.length / size))
    const sample: T[] = []
    for (let from = 0; from < items.length; from += step) {
      chance = (Math.imul(chance, 1_664_525) + 1_013_904_223) >>> 0
      const item = items[from + Math.floor((chance / 2 ** 32) * Math.min(step, items.length - from))]
      if (item !== undefined) sample.push(item)
    }
    return sample
  }

  function note(path: string, value: unknown): void {
    const field = fields.get(path) ?? { types: new Set(), count: 0, nulls: 0 }
    if (fields.size >= PATHS_MAX && !fields.has(path)) return
    fields.set(path, field)
    field.count++
    const type = typeOf(value)
    if (type === null) field.nulls++
    else field.types.add(type)
  }

  return {
    observe(records: readonly RawRecord[]): void {
      const unchanged = records.filter((record) => record.unchangedNo !== null)
      const read = records.filter((record) => record.unchangedNo === null)
      for (const record of [...sampleOf(read, RECORDS_A_PAGE), ...sampleOf(unchanged, UNCHANGED_A_PAGE)]) {
        observed++
        for (const [path, value] of fieldsOf(record.value)) note(path, value)
      }
    },
    save: async (trx: Trx, at: Instant): Promise<FieldDrift[]> =>
      observed === 0 ? [] : saveFields(trx, fields, observed, at),
  }
}

/** Maps the path of each field of a record to its value. Of an array, only the first element is examined. */
function fieldsOf(record: unknown): Map<string, unknown> {
  const found = new Map<string, unknown>()
  const visit = (value: unknown, path: string, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) return
    if (Array.isArray(value)) {
      const at = `${path}[]`
      if (value.length > 0) found.set(at, value[0])
      visit(value[0], at, depth + 1)
      return
    }
    const entries = Object.entries(value)
    if (entries.length > NAMES_MAX) return
    for (const [name, child] of entries) {
      const at = path === '' ? name : `${path}.${name}`
      found.set(at, child)
      visit(child, at, depth + 1)
    }
  }
  visit(record, '', 0)
  return found
}

function typeOf(value: unknown): FieldType | null {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object'
}
