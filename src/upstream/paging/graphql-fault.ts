/**
 * Reads the errors of GraphQL (specification of October 2021, section 7.1), which come with status 200: a request
 * that was not run has no `data`; one that failed while it ran has `data` that is null or partial.
 */
import { saidIn } from '../client/answer.ts'
import type { Fault } from '../client/request.ts'
import { readPath } from '../values/json.ts'

const THROTTLED = /throttl|rate.?limit|too.?many.?requests|budget.?exhausted|^429$/i
/** The places of the seconds to wait, in an error. */
const WAITS = ['retry_in_seconds', 'retryAfterSeconds', 'retryAfter', 'retry_after']

/** Null if the body has no errors of GraphQL. */
export function findGraphqlFault(body: unknown): Fault | null {
  const errors: unknown = readPath(body, ['errors'])
  if (!Array.isArray(errors) || errors.length === 0 || !errors.every(isGraphqlError)) return null
  const said = errors.map((error) => saidIn(error)).join('; ')
  const throttled = errors.find((error) =>
    [
      ['type'],
      ['extensions', 'code'],
      ['extensions', 'category'],
      ['extensions', 'status_code'],
      ['message'],
    ].some((path) => THROTTLED.test(String(readPath(error, path) ?? ''))),
  )
  if (throttled !== undefined) return { said, isThrottled: true, waitMs: waitOf(throttled, body) }
  return { said, isLasting: readPath(body, ['data']) === undefined }
}

function isGraphqlError(error: unknown): boolean {
  return typeof readPath(error, ['message']) === 'string'
}

/** Shopify names no wait, but what the query costs and how fast the points for it come back. */
function waitOf(error: unknown, body: unknown): number | null {
  const seconds = WAITS.map((name) => Number(readPath(error, ['extensions', name]))).find((each) => each > 0)
  const [wanted, left, rate] = [
    ['requestedQueryCost'],
    ['throttleStatus', 'currentlyAvailable'],
    ['throttleStatus', 'restoreRate'],
  ].map((path) => Number(readPath(body, ['extensions', 'cost', ...path])))
  const restored = (Number(wanted) - Number(left)) / Number(rate)
  const wait = seconds ?? restored
  return wait > 0 && Number.isFinite(wait) ? Math.ceil(wait * 1000) : null
}
