/** Stores annotations: the notes that people write about one or more days. */
import type { Selectable } from 'kysely'
import type { Annotation } from '../../domain/insight.ts'
import { inCamelCase, inSnakeCase } from '../../domain/names.ts'
import type { Db, Trx } from '../db/store.ts'
import type { Tables } from '../tables/tables.ts'

export async function listAnnotations(db: Db): Promise<Annotation[]> {
  const rows = await db
    .selectFrom('annotation')
    .selectAll()
    .orderBy('first_day')
    .orderBy('last_day')
    .orderBy('id')
    .execute()
  return rows.map(annotationOf)
}

export async function insertAnnotation(
  trx: Trx,
  { isLeftOut, ...annotation }: Omit<Annotation, 'id'>,
): Promise<Annotation> {
  const row = await trx
    .insertInto('annotation')
    .values({ ...inSnakeCase(annotation), is_left_out: isLeftOut ? 1 : 0 })
    .returningAll()
    .executeTakeFirstOrThrow()
  return annotationOf(row)
}

/** Returns undefined if no annotation has this id. */
export async function deleteAnnotation(trx: Trx, id: number): Promise<Annotation | undefined> {
  const row = await trx.deleteFrom('annotation').where('id', '=', id).returningAll().executeTakeFirst()
  return row && annotationOf(row)
}

function annotationOf(row: Selectable<Tables['annotation']>): Annotation {
  return { ...inCamelCase(row), isLeftOut: row.is_left_out === 1 }
}
