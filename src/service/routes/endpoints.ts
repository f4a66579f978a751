/**
 * All endpoints, in the order of the OpenAPI document: the six of the API's document, then the extensions.
 */
import type { Endpoint } from '../http/endpoint.ts'
import { listLeadsEndpoint, showLeadEndpoint } from './leads.ts'
import { agentsEndpoint, createPipelineEndpoint, pipelineStatsEndpoint } from './pipelines.ts'
import {
  deleteWebhookEndpoint,
  enableWebhookEndpoint,
  listWebhookAttemptsEndpoint,
  listWebhooksEndpoint,
  registerWebhookEndpoint,
  rotateWebhookEndpoint,
  showWebhookEndpoint,
  testWebhookEndpoint,
} from './webhooks.ts'

export const ENDPOINTS: readonly Endpoint[] = [
  listLeadsEndpoint,
  showLeadEndpoint,
  createPipelineEndpoint,
  pipelineStatsEndpoint,
  registerWebhookEndpoint,
  agentsEndpoint,
  listWebhooksEndpoint,
  showWebhookEndpoint,
  deleteWebhookEndpoint,
  listWebhookAttemptsEndpoint,
  rotateWebhookEndpoint,
  testWebhookEndpoint,
  enableWebhookEndpoint,
]
