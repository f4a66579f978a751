/** Where the six endpoints are, and how they join a base URL. */

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

/**
 * The full address of an endpoint. The service's document gives a base that ends in `v1` and paths that
 * begin with `/api/v1`; so a base of `https://h`, `https://h/api`, `https://h/api/v1` or `https://h/x/v1`
 * all reach the same place.
 * @param params values for `:id`, percent-encoded here
 */
export function endpointUrl(base: string, path: EndpointPath, params: { readonly id?: string } = {}): URL {
  const url = new URL(base)
  const root = url.pathname.replace(/\/+$/, '')
  url.pathname =
    root + path.slice(sharedPrefix(root).length).replace(':id', encodeURIComponent(params.id ?? ''))
  return url
}

function sharedPrefix(root: string): string {
  if (root.endsWith('/v1')) return API_PREFIX
  return root.endsWith('/api') ? '/api' : ''
}
