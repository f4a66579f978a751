/** Where the six endpoints are. */

export const API_PREFIX = '/api/v1'

export const PATHS = {
  leads: `${API_PREFIX}/leads`,
  lead: `${API_PREFIX}/leads/:id`,
  pipelines: `${API_PREFIX}/pipelines`,
  pipelineStats: `${API_PREFIX}/pipelines/:id/stats`,
  webhooks: `${API_PREFIX}/webhooks`,
  agents: `${API_PREFIX}/agents/status`,
} as const

export type EndpointPath = (typeof PATHS)[keyof typeof PATHS]
