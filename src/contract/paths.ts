/**
 * The paths of the endpoints: the six of the API's document, then the extensions of the reference service.
 */

export const API_PREFIX = '/api/v1'

export const PATHS = {
  leads: `${API_PREFIX}/leads`,
  lead: `${API_PREFIX}/leads/:id`,
  pipelines: `${API_PREFIX}/pipelines`,
  pipelineStats: `${API_PREFIX}/pipelines/:id/stats`,
  webhooks: `${API_PREFIX}/webhooks`,
  agents: `${API_PREFIX}/agents/status`,
  webhook: `${API_PREFIX}/webhooks/:id`,
  webhookAttempts: `${API_PREFIX}/webhooks/:id/attempts`,
  webhookTest: `${API_PREFIX}/webhooks/:id/test`,
  webhookRotate: `${API_PREFIX}/webhooks/:id/rotate`,
  webhookEnable: `${API_PREFIX}/webhooks/:id/enable`,
} as const

export type EndpointPath = (typeof PATHS)[keyof typeof PATHS]
