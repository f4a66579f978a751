/** The paths of the lead API, and the format of its errors: `application/problem+json` (RFC 9457). */
import { z } from 'zod'

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
} as const

export type EndpointPath = (typeof PATHS)[keyof typeof PATHS]

export const PROBLEM_TYPE = 'application/problem+json'

/** The error codes of the lead API, each with its HTTP status and title. */
export const PROBLEMS = {
  unauthorized: { status: 401, title: 'The API key is missing or not valid' },
  forbidden: { status: 403, title: 'The API key may not do this' },
  not_found: { status: 404, title: 'There is no such resource' },
  invalid_request: { status: 400, title: 'The request does not fit the API' },
  invalid_cursor: { status: 400, title: 'The cursor is not one of this list' },
  invalid_json: { status: 400, title: 'The body is not JSON' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body must be application/json' },
  idempotency_conflict: { status: 409, title: 'The idempotency key was used for another request' },
  too_many_webhooks: { status: 409, title: 'There are as many webhooks as there may be' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'The service failed' },
} as const satisfies Record<string, { status: number; title: string }>
export type ProblemCode = keyof typeof PROBLEMS

export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
})
export type Problem = z.infer<typeof problemSchema>
