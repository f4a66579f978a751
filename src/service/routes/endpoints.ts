/** All endpoints, in the order of the OpenAPI document. */
import type { Endpoint } from '../http/endpoint.ts'
import { agentsEndpoint } from './agents.ts'
import { listLeadsEndpoint, showLeadEndpoint } from './leads.ts'
import { pipelineStatsEndpoint } from './pipeline-stats.ts'
import { createPipelineEndpoint } from './pipelines.ts'
import { registerWebhookEndpoint } from './webhooks.ts'

export const ENDPOINTS: readonly Endpoint[] = [
  listLeadsEndpoint,
  showLeadEndpoint,
  createPipelineEndpoint,
  pipelineStatsEndpoint,
  registerWebhookEndpoint,
  agentsEndpoint,
]
