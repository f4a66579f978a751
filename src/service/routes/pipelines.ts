/** `POST /pipelines`. */
import { randomBytes } from 'node:crypto'
import { PATHS } from '../../contract/paths.ts'
import { pipelineCreateSchema, pipelineSchema } from '../../contract/pipeline.ts'
import { endpoint } from '../http/endpoint.ts'
import { eventRow } from '../simulation/changes.ts'
import { insertPipeline, toWirePipeline } from '../store/pipeline.ts'
import type { PipelineRow } from '../store/tables.ts'

export const createPipelineEndpoint = endpoint({
  method: 'POST',
  path: PATHS.pipelines,
  operationId: 'createPipeline',
  summary: 'Create a discovery pipeline with targeting criteria',
  description:
    'The agents begin at once: the first leads are there within the hour. A pipeline is `completed` when ' +
    'its limit is reached or nothing more matches its criteria.',
  scope: 'write',
  body: pipelineCreateSchema,
  status: 201,
  answer: pipelineSchema,
  problems: [],
  actsOnce: true,
  answerTo: async ({ db, now }, { body }) => {
    const at = now()
    const pipeline: PipelineRow = {
      id: `pl_${randomBytes(8).toString('hex')}`,
      name: body.name,
      criteria: JSON.stringify(body.criteria),
      status: 'active',
      created_at: at,
      updated_at: at,
    }
    await insertPipeline(db, pipeline)
    const { id, name, status } = pipeline
    const event = eventRow(at, { type: 'pipeline.created', data: { pipeline_id: id, name, status } })
    await db.insertInto('event').values(event).execute()
    return toWirePipeline(pipeline)
  },
})
