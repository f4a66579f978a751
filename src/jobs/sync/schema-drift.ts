/**
 * Watches which fields the records of a scan have. Only some records of each page are examined, which is
 * enough to find changed fields.
 */
import type { Instant } from '../../domain/model.ts'
import type { FieldDrift, FieldType } from '../../domain/sync.ts'
import type { Trx } from '../../store/db/store.ts'
import { type FieldSample, saveFields } from '../../store/sync/schema-drift.ts'
import type { RawRecord } from '../../upstream/mapping/raw-record.ts'

const RECORDS_A_PAGE = 25
/**
 * The maximum number of unchanged records examined per page. The number is small because unchanged records
 * are parsed only for this purpose.
 */
const KNOWN_A_PAGE = 10
const DEPTH_MAX = 5
/**
 * The number of names from which an object counts as a map whose names are data, and no longer as a record
 * with fields.
 */
const NAMES_MAX = 100
const PATHS_MAX = 1_000

interface Field {
  readonly types: Set<FieldType>
  count: number
  nulls: number
}

export interface DriftWatch {
  observe(records: readonly RawRecord[]): void
  /**
   * Stores the fields that were seen. It is called once, after the scan has ended.
   * @returns the fields that differ from earlier scans
   */
  save(trx: Trx, at: Instant): Promise<FieldDrift[]>
}

export function createDriftWatch(): DriftWatch {
  const fields = new Map<string, Field>()
  let observed = 0
  let chance = 1

  /**
   * Returns at most `size` items, one from each part of the list. The distance between the items varies,
   * because similar rows may repeat at a fixed distance.
   */
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
    observe(records) {
      const known = records.filter((record) => record.known !== null)
      const read = records.filter((record) => record.known === null)
      for (const record of [...sampleOf(read, RECORDS_A_PAGE), ...sampleOf(known, KNOWN_A_PAGE)]) {
        observed++
        for (const [path, value] of fieldsOf(record.value)) note(path, value)
      }
    },
    async save(trx, at) {
      if (observed === 0) return []
      const sample: ReadonlyMap<string, FieldSample> = fields
      return saveFields(trx, sample, observed, at)
    },
  }
}

/** Lists each path of a record once. In an array only the first element is examined, as an example. */
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
