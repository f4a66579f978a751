/**
 * All endpoints: the six of the API's own document, then the extensions.
 */

import { randomBytes } from 'node:crypto'
import { PATHS } from '../../contract/api.ts'
import type { LeadQuery, WireLeadList } from '../../contract/lead.ts'
import { leadDetailSchema, leadListSchema, leadQuerySchema } from '../../contract/lead.ts'
import {
  agentListSchema,
  pipelineCreateSchema,
  pipelineSchema,
  pipelineStatsSchema,
  statsQuerySchema,
} from '../../contract/pipeline.ts'
import type { Context, Endpoint } from '../http/endpoint.ts'
import { decodeCursor, encodeCursor, endpoint, ProblemError } from '../http/endpoint.ts'
import { composeAgents, readAgentFacts } from '../simulation/agent-status.ts'
import type { PipelineRow } from '../store/database.ts'
import { instantOf } from '../store/database.ts'
import type { LeadFilters, LeadOrder, LeadSortKey } from '../store/lead.ts'
import { countLeads, findLead, listLeads, positionOf, toWireLead } from '../store/lead.ts'
import {
  findPipeline,
  insertPipeline,
  listPipelines,
  readPipelineStats,
  toWirePipeline,
} from '../store/pipeline-stats.ts'
import { eventRow } from '../store/simulation.ts'
import {
  deleteWebhookEndpoint,
  listWebhookAttemptsEndpoint,
  listWebhooksEndpoint,
  registerWebhookEndpoint,
  testWebhookEndpoint,
} from './webhooks.ts'

/* The endpoints `GET /leads` and `GET /leads/:id`. */

const listLeadsEndpoint = endpoint({
  method: 'GET',
  path: PATHS.leads,
  scope: 'read',
  query: leadQuerySchema,
  status: 200,
  answer: leadListSchema,
  answerTo: ({ db }, { query }) => pageOf(db, query),
})

const showLeadEndpoint = endpoint({
  method: 'GET',
  path: PATHS.lead,
  scope: 'read',
  status: 200,
  answer: leadDetailSchema,
  answerTo: async ({ db }, { id }) => {
    const lead = await findLead(db, id)
    if (lead === undefined) throw new ProblemError('not_found', `There is no lead ${JSON.stringify(id)}.`)
    return lead
  },
})

async function pageOf(db: Context['db'], query: LeadQuery): Promise<WireLeadList> {
  const after = decodeCursor(query)
  const filters = filtersOf(query)
  const order = orderOf(query.sort)
  const [total, found] = await Promise.all([
    countLeads(db, filters),
    listLeads(db, filters, order, after, query.limit + 1),
  ])
  const leads = found.slice(0, query.limit)
  const last = leads.at(-1)
  const more = found.length > leads.length && last !== undefined
  return {
    data: leads.map(toWireLead),
    page: {
      next_cursor: more ? encodeCursor(query, positionOf(last, order)) : null,
      has_more: more,
      total,
    },
  }
}

function filtersOf(query: LeadQuery): LeadFilters {
  const instant = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text))
  return {
    pipelineId: query.pipeline_id,
    statuses: query.status,
    updatedSince: instant(query.updated_since),
    createdSince: instant(query.created_since),
    minScore: query.min_score,
    q: query.q,
  }
}

function orderOf(sort: LeadQuery['sort']): LeadOrder {
  return { key: sort.replace('-', '') as LeadSortKey, descending: sort.startsWith('-') }
}

/* The endpoints `POST /pipelines`, `GET /pipelines/:id/stats` and `GET /agents/status`. */

const createPipelineEndpoint = endpoint({
  method: 'POST',
  path: PATHS.pipelines,
  scope: 'write',
  body: pipelineCreateSchema,
  status: 201,
  answer: pipelineSchema,
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

const pipelineStatsEndpoint = endpoint({
  method: 'GET',
  path: PATHS.pipelineStats,
  scope: 'read',
  query: statsQuerySchema,
  status: 200,
  answer: pipelineStatsSchema,
  answerTo: async ({ db, simulation }, { id, query }) => {
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
      as_of: instantOf(simulation.until()),
      ...(await readPipelineStats(db, pipeline.id, from, to)),
    }
  },
})

const agentsEndpoint = endpoint({
  method: 'GET',
  path: PATHS.agents,
  scope: 'read',
  status: 200,
  answer: agentListSchema,
  answerTo: async ({ db, simulation }) => {
    const asOf = simulation.until()
    const facts = await readAgentFacts(db, asOf)
    const pipelines = await listPipelines(db, 'active')
    return { data: composeAgents(simulation.world, facts, pipelines, asOf), as_of: instantOf(asOf) }
  },
})

export const ENDPOINTS: readonly Endpoint[] = [
  listLeadsEndpoint,
  showLeadEndpoint,
  createPipelineEndpoint,
  pipelineStatsEndpoint,
  registerWebhookEndpoint,
  agentsEndpoint,
  listWebhooksEndpoint,
  deleteWebhookEndpoint,
  listWebhookAttemptsEndpoint,
  testWebhookEndpoint,
]
