/** The endpoints `GET /leads` and `GET /leads/:id`. */
import {
  type LeadQuery,
  leadDetailSchema,
  leadListSchema,
  leadQuerySchema,
  type WireLeadList,
} from '../../contract/lead.ts'
import { PATHS } from '../../contract/paths.ts'
import { type Context, decodeCursor, encodeCursor, endpoint } from '../http/endpoint.ts'
import { ProblemError } from '../http/problem.ts'
import {
  countLeads,
  findLead,
  type LeadFilters,
  type LeadOrder,
  type LeadSortKey,
  listLeads,
  positionOf,
  toWireLead,
} from '../store/lead.ts'

export const listLeadsEndpoint = endpoint({
  method: 'GET',
  path: PATHS.leads,
  operationId: 'listLeads',
  summary: 'List leads, filtered, sorted and in pages',
  description:
    'Pages follow one another by `cursor` and hold still while leads change: sorted by `id`, `created_at` or ' +
    '`-created_at` no lead is left out or comes twice. Sorted by `updated_at`, a lead that changes during the ' +
    'walk comes again, further on, as it is then; none is left out. Sorted by `-updated_at` or by score, a lead ' +
    'that moves during the walk may be passed over. `limit` may differ from page to page, filters and sort may not.',
  scope: 'read',
  query: leadQuerySchema,
  status: 200,
  answer: leadListSchema,
  problems: ['invalid_request', 'invalid_cursor'],
  answerTo: ({ db }, { query }) => pageOf(db, query),
})

export const showLeadEndpoint = endpoint({
  method: 'GET',
  path: PATHS.lead,
  operationId: 'getLead',
  summary: 'One lead with its enrichment and its activity history',
  scope: 'read',
  status: 200,
  answer: leadDetailSchema,
  problems: ['invalid_request', 'not_found'],
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
