/**
 * The values of declared fields beside the row of a lead: an array in JSON, in which each field has its own
 * place. A place stays while its field keeps name and type, so that values are never read as those of another
 * field, even while the records are mapped again after a change of the profile.
 */
import { sql } from 'kysely'
import type {
  DeclaredField,
  DeclaredType,
  FieldCell,
  FieldTable,
  FieldValues,
} from '../../domain/declared-fields.ts'
import type { Instant, Lead } from '../../domain/model.ts'
import { insertRows, listOf } from '../db/rows.ts'
import { statement } from '../db/statement.ts'
import type { Db, Observation, Trx } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

export interface StoredField extends DeclaredField {
  readonly place: number
}

type StoredValues = Pick<Row<'lead_values'>, 'cells' | 'unfit'>

/** Lists the fields that the profile declares, in its order. */
export async function listFields(db: Db): Promise<StoredField[]> {
  const { rows } = await selectFields(db, {})
  return rows.map(({ place, name, type, meaning, is_personal, has_history }) => ({
    place,
    name,
    type,
    meaning,
    isPersonal: is_personal === 1,
    hasHistory: has_history === 1,
  }))
}

const selectFields = statement((db, _: object) =>
  db.selectFrom('declared_field').where('position', 'is not', null).orderBy('position').selectAll().compile(),
)

/** Writes the values of leads as they are stored; null for a lead of a profile without declared fields. */
export type EncodeFields = (lead: Pick<Lead, 'fields'>) => StoredValues | null

/** @param stored the declared fields of the store; values of other fields are left out */
export function createEncoder(stored: readonly StoredField[]): EncodeFields {
  let layout: Layout | null = null
  return ({ fields }) => {
    if (fields === null) return null
    if (layout?.fields !== fields.fields) layout = layoutOf(fields.fields, stored)
    return encode(fields, layout)
  }
}

interface Layout {
  readonly fields: readonly DeclaredField[]
  /** The place of each field; -1 if the store does not know the field. */
  readonly places: readonly number[]
}

function layoutOf(fields: readonly DeclaredField[], stored: readonly StoredField[]): Layout {
  const places = fields.map(
    ({ name, type }) => stored.find((each) => each.name === name && each.type === type)?.place ?? -1,
  )
  return { fields, places }
}

/** In JSON, a place without a value is null. */
function encode({ cells, unfit }: FieldValues, { places }: Layout): StoredValues {
  const arranged: (FieldCell | undefined)[] = []
  for (const [index, place] of places.entries()) if (place >= 0) arranged[place] = cells[index]
  const unfitPlaces = unfit.map((index) => places[index] ?? -1).filter((place) => place >= 0)
  return {
    cells: JSON.stringify(arranged),
    unfit: unfitPlaces.length === 0 ? null : JSON.stringify(unfitPlaces),
  }
}

/** The stored values of a lead, and those of a newer record. */
export interface ValueChange {
  readonly lead: Pick<Lead, 'id' | 'updatedAt'>
  /** The stored time of update. */
  readonly updatedAt: Instant
  readonly before: string
  readonly after: string
}

/** Keeps the changes of the fields that have a history. */
export async function saveFieldChanges(
  trx: Trx,
  changes: readonly ValueChange[],
  stored: readonly StoredField[],
  observed: Observation,
): Promise<void> {
  const kept = stored.filter(({ hasHistory }) => hasHistory)
  if (kept.length === 0) return
  const rows = changes.flatMap(({ lead, updatedAt, before, after }) => {
    const [old, present] = [parseCells(before), parseCells(after)]
    const isLater = lead.updatedAt !== null && lead.updatedAt > updatedAt
    return kept
      .filter(({ place }) => (old[place] ?? null) !== (present[place] ?? null))
      .map(({ name, place }) => ({
        lead_id: lead.id,
        field: name,
        changed_at: isLater ? lead.updatedAt : observed.at,
        value_before: textOf(old[place]),
        value: textOf(present[place]),
        run_id: observed.runId,
      }))
  })
  await insertRows(trx, 'field_change', rows, {
    key: ['lead_id', 'field', 'changed_at'],
    update: ['value', 'run_id'],
  })
}

function parseCells(json: string): FieldCell[] {
  return JSON.parse(json)
}

function textOf(cell: FieldCell | undefined): string | null {
  return cell === null || cell === undefined ? null : String(cell)
}

/**
 * Reads the present values of declared fields. Leads without values are left out.
 * @param names the names of the wanted fields, in their order; all fields by default
 */
export async function readFieldTable(
  db: Db,
  leadIds: readonly string[],
  names?: readonly string[],
): Promise<FieldTable> {
  const stored = await listFields(db)
  const columns = names?.flatMap((name) => stored.find((field) => field.name === name) ?? []) ?? stored
  const rows = await db
    .selectFrom('lead_values')
    .innerJoin('lead', 'lead.no', 'lead_values.lead_no')
    .where('lead.id', 'in', listOf(leadIds))
    .select(['lead.id', 'cells'])
    .execute()
  return {
    columns: columns.map(({ name, type }) => ({ name, type })),
    rows: rows.map(({ id, cells: json }) => {
      const cells = parseCells(json)
      return [id, columns.map(({ place }) => cells[place] ?? null)]
    }),
  }
}

/** Reads the present values of all declared fields by their names, for each lead that has some. */
export async function readFieldsByName(
  db: Db,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, Readonly<Record<string, FieldCell>>>> {
  const { columns, rows } = await readFieldTable(db, leadIds)
  if (columns.length === 0) return new Map()
  return new Map(
    rows.map(([id, cells]) => [
      id,
      Object.fromEntries(columns.map(({ name }, index) => [name, cells[index] ?? null])),
    ]),
  )
}

interface UnfitValues {
  readonly name: string
  readonly type: DeclaredType
  readonly leads: number
  /** The id of one of these leads. */
  readonly example: string
}

/** Counts the values that do not fit the type of their field. */
export async function countUnfit(db: Db): Promise<UnfitValues[]> {
  const { rows } = await sql<UnfitValues>`
    SELECT field.name, field.type, count(*) AS leads, min(lead.id) AS example
    FROM lead_values CROSS JOIN lead CROSS JOIN json_each(lead_values.unfit) AS each CROSS JOIN declared_field AS field
    WHERE lead_values.unfit IS NOT NULL AND lead.no = lead_values.lead_no AND lead.deleted_at IS NULL
      AND field.place = CAST(each.value AS bigint) AND field.position IS NOT NULL
    GROUP BY field.name, field.type ORDER BY field.name`.execute(db)
  return rows
}

/** Quotes no value, because it may be personal. */
export function formatUnfit({ name, type, leads, example }: UnfitValues): string {
  const whose = leads === 1 ? '1 lead' : `${leads} leads`
  return `${name} is empty in ${whose} whose value is no ${type}, such as ${example}`
}
