/**
 * Follows the fields that the profile declares. After a change of them, all stored records are mapped again in
 * parts, without asking the upstream. A killed run goes on after the last part.
 */
import { isDeepStrictEqual } from 'node:util'
import type { DeclaredField } from '../../domain/declared-fields.ts'
import type { Instant } from '../../domain/model.ts'
import { insertRows } from '../db/rows.ts'
import type { Db, Trx } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

/** A declared field with its rule as JSON, which shows whether the rule has changed. */
export interface RuledField extends DeclaredField {
  readonly rule: string
}

/** The names of the fields that came, went, or have another type or rule since the last sync. */
export type FieldNews = Readonly<Record<'added' | 'removed' | 'changed', readonly string[]>>

interface FieldPlan {
  readonly rows: readonly Row<'declared_field'>[]
  readonly news: FieldNews
  /** Tells whether the rows differ from the stored ones. */
  readonly differs: boolean
  /** The number of the lead behind which records are to be mapped again; null if all are mapped. */
  readonly after: number | null
}

/** Compares the fields that the profile declares with those by which the stored records were mapped. */
export async function planFields(db: Db, declared: readonly RuledField[]): Promise<FieldPlan> {
  const stored = await db.selectFrom('declared_field').selectAll().execute()
  const present = new Map(
    stored.filter(({ position }) => position !== null).map((row) => [row.name, row] as const),
  )
  const taken = new Set(stored.map(({ place }) => place))
  const rows = declared.map(({ name, type, rule, meaning, isPersonal, hasHistory }, position) => {
    const known = stored.find((row) => row.name === name && row.type === type)
    const place = known?.place ?? firstFree(taken)
    taken.add(place)
    const flags = { is_personal: isPersonal ? 1 : 0, has_history: hasHistory ? 1 : 0 } as const
    return { place, name, type, position, rule, meaning, ...flags }
  })
  const names = new Set(rows.map(({ name }) => name))
  const isRuled = ({ name, type, rule }: FieldPlan['rows'][number]): boolean => {
    const before = present.get(name)
    return before === undefined || (before.type === type && before.rule === rule)
  }
  const news = {
    added: namesOf(rows.filter(({ name }) => !present.has(name))),
    removed: [...present.keys()].filter((name) => !names.has(name)),
    changed: namesOf(rows.filter((row) => !isRuled(row))),
  }
  const mapping = await db.selectFrom('field_mapping').select('mapped_no').executeTakeFirst()
  const isNew = Object.values(news).some((changed) => changed.length > 0)
  return {
    rows,
    news,
    differs: isNew || rows.some((row) => !isDeepStrictEqual(row, { ...present.get(row.name) })),
    after: isNew ? 0 : (mapping?.mapped_no ?? null),
  }
}

export async function saveFieldPlan(trx: Trx, { rows, after }: FieldPlan): Promise<void> {
  await trx.updateTable('declared_field').set({ position: null }).execute()
  await insertRows(trx, 'declared_field', rows, { key: ['place'] })
  if (after === 0) await insertRows(trx, 'field_mapping', [{ id: 1, mapped_no: 0 }], { key: ['id'] })
}

function namesOf(rows: readonly { readonly name: string }[]): string[] {
  return rows.map(({ name }) => name)
}

function firstFree(taken: ReadonlySet<number>): number {
  for (let place = 0; ; place++) if (!taken.has(place)) return place
}

export async function listRecords(
  db: Db,
  after: number,
  limit: number,
): Promise<{ lead_no: number; raw: string }[]> {
  return db
    .selectFrom('lead_raw')
    .where('lead_no', '>', after)
    .orderBy('lead_no')
    .limit(limit)
    .selectAll()
    .execute()
}

/** @param last the number of the lead up to which the records are mapped */
export async function saveMapped(trx: Trx, rows: readonly Row<'lead_values'>[], last: number): Promise<void> {
  await insertRows(trx, 'lead_values', rows, { key: ['lead_no'] })
  await trx.updateTable('field_mapping').set({ mapped_no: last }).execute()
}

/** Only now the places of fields that are no longer declared are free, because no lead has values there. */
export async function endMapping(trx: Trx, at: Instant): Promise<void> {
  await trx.deleteFrom('declared_field').where('position', 'is', null).execute()
  await trx.updateTable('field_mapping').set({ mapped_no: null, mapped_at: at }).execute()
}
