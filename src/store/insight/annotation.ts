/** Stores annotations: the notes that people write about one or more days. */
import type { Selectable } from 'kysely'
import type { Annotation } from '../../domain/insight.ts'
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

export async function insertAnnotation(trx: Trx, given: Omit<Annotation, 'id'>): Promise<Annotation> {
  const row = await trx
    .insertInto('annotation')
    .values({
      first_day: given.firstDay,
      last_day: given.lastDay,
      text: given.text,
      pipeline_id: given.pipelineId,
      is_left_out: given.isLeftOut ? 1 : 0,
      written_at: given.writtenAt,
      written_by: given.writtenBy,
    })
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
  return {
    id: row.id,
    firstDay: row.first_day,
    lastDay: row.last_day,
    text: row.text,
    pipelineId: row.pipeline_id,
    isLeftOut: row.is_left_out === 1,
    writtenAt: row.written_at,
    writtenBy: row.written_by,
  }
}
