/** Pipelines in the service's store. */
import { criteriaSchema, type WirePipeline } from '../../contract/pipeline.ts'
import type { ServiceDatabase } from './database.ts'
import { instantOf } from './instant.ts'
import type { PipelineRow } from './tables.ts'

export function listPipelines(db: ServiceDatabase, status: PipelineRow['status']): Promise<PipelineRow[]> {
  return db.selectFrom('pipeline').selectAll().where('status', '=', status).orderBy('id').execute()
}

export function findPipeline(db: ServiceDatabase, id: string): Promise<PipelineRow | undefined> {
  return db.selectFrom('pipeline').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function insertPipeline(db: ServiceDatabase, pipeline: PipelineRow): Promise<void> {
  await db.insertInto('pipeline').values(pipeline).execute()
}

export function toWirePipeline(row: PipelineRow): WirePipeline {
  return {
    id: row.id,
    name: row.name,
    criteria: criteriaSchema.parse(JSON.parse(row.criteria)),
    status: row.status,
    created_at: instantOf(row.created_at),
    updated_at: instantOf(row.updated_at),
  }
}
