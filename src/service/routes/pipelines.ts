/** The endpoints `POST /pipelines`, `GET /pipelines/:id/stats` and `GET /agents/status`. */
import { randomBytes } from 'node:crypto'
import { PATHS } from '../../contract/paths.ts'
import {
  agentListSchema,
  pipelineCreateSchema,
  pipelineSchema,
  pipelineStatsSchema,
  statsQuerySchema,
} from '../../contract/pipeline.ts'
import { endpoint } from '../http/endpoint.ts'
import { ProblemError } from '../http/problem.ts'
import { composeAgents } from '../simulation/agent-status.ts'
import { eventRow } from '../simulation/changes.ts'
import { readAgentFacts } from '../store/agent.ts'
import { instantOf } from '../store/database.ts'
import {
  findPipeline,
  insertPipeline,
  listPipelines,
  readPipelineStats,
  toWirePipeline,
} from '../store/pipeline-stats.ts'
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

export const pipelineStatsEndpoint = endpoint({
  method: 'GET',
  path: PATHS.pipelineStats,
  operationId: 'getPipelineStats',
  summary: 'Totals, funnel, times, values and win rate of a pipeline',
  description:
    'For the whole life, or for the leads created in `from` (included) to `to` (not included), wherever ' +
    'they stand now. Leads that were removed do not count.',
  scope: 'read',
  query: statsQuerySchema,
  status: 200,
  answer: pipelineStatsSchema,
  problems: ['invalid_request', 'not_found'],
  answerTo: async ({ db, life }, { id, query }) => {
    const pipeline = await findPipeline(db, id)
    if (pipeline === undefined) {
      throw new ProblemError('not_found', `There is no pipeline ${JSON.stringify(id)}.`)
    }
    const from = query.from === undefined ? null : Date.parse(query.from)
    const to = query.to === undefined ? null : Date.parse(query.to)
    return {
      pipeline_id: pipeline.id,
      name: pipeline.name,
      status: pipeline.status,
      from: from === null ? null : instantOf(from),
      to: to === null ? null : instantOf(to),
      as_of: instantOf(life.until()),
      ...(await readPipelineStats(db, pipeline.id, from, to)),
    }
  },
})

export const agentsEndpoint = endpoint({
  method: 'GET',
  path: PATHS.agents,
  operationId: 'getAgentsStatus',
  summary: 'What each agent is doing and how it fared in the last 24 hours',
  scope: 'read',
  status: 200,
  answer: agentListSchema,
  problems: ['invalid_request'],
  answerTo: async ({ db, life }) => {
    const asOf = life.until()
    const facts = await readAgentFacts(db, asOf)
    const pipelines = await listPipelines(db, 'active')
    return { data: composeAgents(life.world, facts, pipelines, asOf), as_of: instantOf(asOf) }
  },
})
