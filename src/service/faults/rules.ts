/**
 * The faults of the reference service: a list of rules (YAML or JSON), each with a condition and one fault.
 */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import { API_PREFIX } from '../../contract/api.ts'
import { errorText, LeadsheetError } from '../../errors.ts'
import { randomFor } from '../simulation/random.ts'

const count = (max: number) => {
  const error = `a whole number from 1 to ${max}`
  return z.int({ error }).min(1, { error }).max(max, { error })
}
const HITS_MAX = 1_000_000
const DELAY_MAX_MS = 3_600_000

/** All given parts must be met. The requests that match method and path are numbered from 1. */
const when = {
  /** `*` stands for any text within a segment, `**` for any text. A leading `/api/v1` may be left out. */
  path: z.string().startsWith('/', { error: 'a path that begins with /' }).default('/**'),
  method: z.enum(['GET', 'POST', 'HEAD']).optional(),
  /** The numbers of the requests that get the fault, such as 1 and 3 for the first and the third. */
  hits: z.array(count(HITS_MAX)).nonempty().optional(),
  /** The number of requests that pass before the first request gets the fault. */
  after: count(HITS_MAX).optional(),
  /** The interval between requests that get the fault. With 3, every third request gets the fault. */
  every: count(HITS_MAX).optional(),
  /** The chance of the fault, from 0 to 1. The random numbers depend on `seed`. */
  probability: z.number().min(0).max(1).optional(),
}

/**
 * By default after half of the body. If not `chunked`, the Content-Length is still that of the whole body.
 */
const broken = { at_byte: z.int().min(0).optional(), chunked: z.boolean().default(false) }

const ruleSchema = z.discriminatedUnion(
  'fault',
  [
    z.strictObject({
      ...when,
      fault: z.literal('status'),
      status: z.int().min(200).max(599),
      headers: z.record(z.string(), z.coerce.string()).default({}),
      /** The body of the answer; if absent, a JSON problem (RFC 9457) is sent. */
      body: z.string().optional(),
    }),
    z.strictObject({ ...when, fault: z.literal('delay'), ms: count(DELAY_MAX_MS) }),
    /** Never answers. */
    z.strictObject({ ...when, fault: z.literal('stall') }),
    /** Resets the connection in the middle of the body (TCP RST). */
    z.strictObject({ ...when, fault: z.literal('reset'), ...broken }),
    /** Closes the connection in the middle of the body without an error (TCP FIN). */
    z.strictObject({ ...when, fault: z.literal('cut'), ...broken }),
    /** Cuts the JSON text and announces the shorter length, so that the answer looks complete. */
    z.strictObject({ ...when, fault: z.literal('truncate'), at_byte: broken.at_byte }),
    z.strictObject({ ...when, fault: z.literal('content_type'), type: z.string().min(1) }),
    /** Sends the body in pieces of `bytes` bytes. */
    z.strictObject({
      ...when,
      fault: z.literal('drip'),
      bytes: count(1_000_000).default(1),
      every_ms: count(DELAY_MAX_MS).default(100),
    }),
    /** Sends a small gzip body that unpacks to `mib` MiB. */
    z.strictObject({ ...when, fault: z.literal('gzip_bomb'), mib: count(10_000).default(300) }),
    /** Repeats the first rows of the page at its end. */
    z.strictObject({ ...when, fault: z.literal('duplicate'), rows: count(1000).default(1) }),
    /** Names this page again as the next page, so that the client reads it for ever. */
    z.strictObject({ ...when, fault: z.literal('loop') }),
    /** As if rows of earlier pages were deleted (`drop`) or added (`repeat`). */
    z.strictObject({
      ...when,
      fault: z.literal('shift'),
      drop: z.int().min(0).default(0),
      repeat: z.int().min(0).default(0),
    }),
    /** Adds `add` to the total number of rows that the page names, or leaves the total out. */
    z.strictObject({
      ...when,
      fault: z.literal('total'),
      add: z.int().default(0),
      absent: z.boolean().default(false),
    }),
  ],
  { error: (issue) => `${nameOf(issue.input)} is not one of ${FAULTS.join(', ')}` },
)
export type FaultRule = z.output<typeof ruleSchema>

export const FAULTS: readonly string[] = ruleSchema.options.map((option) => option.shape.fault.value)

const faultsSchema = z.strictObject({
  /** The seed of all random numbers. */
  seed: z.int().default(1),
  faults: z.array(ruleSchema).min(1, { error: 'at least one rule' }),
})
export type Faults = z.output<typeof faultsSchema>
export type FaultsInput = z.input<typeof faultsSchema>

/** @throws LeadsheetError config_invalid with a line for each mistake */
export function parseFaults(data: unknown, origin: string): Faults {
  const parsed = faultsSchema.safeParse(data)
  if (parsed.success) return parsed.data
  const lines = parsed.error.issues.map((issue) => {
    const place = issue.path
      .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
      .join('')
    return `${origin}  ${place.replace(/^\./, '') || 'the file'}: ${issue.message}`
  })
  throw new LeadsheetError('config_invalid', `The faults have mistakes:\n${lines.join('\n')}`, {
    hint: 'docs/reference/reference-service.md shows an example under "Faults".',
  })
}

/** @throws LeadsheetError config_invalid, also for a file that cannot be read or is not YAML */
export function readFaults(file: string): Faults {
  let data: unknown
  try {
    data = parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    const reason = errorText(cause).split('\n')[0]
    throw new LeadsheetError('config_invalid', `The faults in ${file} cannot be read: ${reason}`, {
      hint: 'Give a YAML or JSON file that there is.',
      cause,
    })
  }
  return parseFaults(data, file)
}

function nameOf(input: unknown): string {
  const name: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, 'fault') : undefined
  return name === undefined ? 'fault' : `fault ${JSON.stringify(name)}`
}

/** In the order of the rules. Each rule counts the requests that match its method and path. */
export function planFaults({ seed, faults }: Faults): (method: string, path: string) => readonly FaultRule[] {
  const rules = faults.map((rule, index) => ({
    rule,
    pattern: patternOf(rule.path),
    random: randomFor('fault', seed, index),
    requests: 0,
  }))
  return (method, path) => {
    const found: FaultRule[] = []
    for (const each of rules) {
      const { rule } = each
      if (rule.method !== undefined && rule.method !== method) continue
      if (!each.pattern.test(path)) continue
      each.requests++
      // A random number is drawn for every matching request, so that `hits`, `after` and `every` do not
      // change which random number a request gets.
      const isDrawn = rule.probability === undefined || each.random.chance(rule.probability)
      if (isDrawn && isTurn(rule, each.requests)) found.push(rule)
    }
    return found
  }
}

/** @param hit the number of this request among those that match the rule, from 1 */
function isTurn({ hits, after, every }: FaultRule, hit: number): boolean {
  if (hits !== undefined && !hits.includes(hit)) return false
  if (after !== undefined && hit <= after) return false
  return every === undefined || hit % every === 0
}

function patternOf(path: string): RegExp {
  const full = path.startsWith(API_PREFIX) ? path : `${API_PREFIX}${path}`
  const source = full
    .split(/(\*\*?)/)
    .map((part) => (part === '**' ? '.*' : part === '*' ? '[^/]*' : RegExp.escape(part)))
    .join('')
  return new RegExp(`^${source}$`)
}
