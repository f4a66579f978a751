/** `GET /pipelines/:id/stats`. */
import { PATHS } from '../../contract/paths.ts'
import { pipelineStatsSchema, statsQuerySchema } from '../../contract/pipeline.ts'
import { endpoint } from '../http/endpoint.ts'
import { ProblemError } from '../http/problem.ts'
import { instantOf } from '../store/instant.ts'
import { findPipeline } from '../store/pipeline.ts'
import { readPipelineStats } from '../store/pipeline-stats.ts'

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
