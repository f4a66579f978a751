/**
 * The faults that the reference service can be told to have: a list of rules, each with where and when it
 * strikes and the one thing it does. YAML or JSON.
 */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import { API_PREFIX } from '../../contract/paths.ts'
import { errorText, LeadsheetError } from '../../errors.ts'
import { randomFor } from '../simulation/random.ts'

const count = (max: number) => {
  const error = `a whole number from 1 to ${max}`
  return z.int({ error }).min(1, { error }).max(max, { error })
}
const HITS_MAX = 1_000_000
const DELAY_MAX_MS = 3_600_000

/** Where and when: all that is given must hold. Hits are counted a rule, from 1, among its own requests. */
const when = {
  /** `*` is anything within a segment, `**` anything at all; `/api/v1` in front may be left out. */
  path: z.string().startsWith('/', { error: 'a path that begins with /' }).default('/**'),
  method: z.enum(['GET', 'POST', 'HEAD']).optional(),
  /** These requests. */
  hits: z.array(count(HITS_MAX)).nonempty().optional(),
  /** Only after so many requests. */
  after: count(HITS_MAX).optional(),
  /** Each so-manieth request. */
  every: count(HITS_MAX).optional(),
  /** Chance that follows from the seed. */
  probability: z.number().min(0).max(1).optional(),
}

/** How a body that breaks off is framed: with a length that it does not keep, or in chunks. */
const broken = { at_byte: z.int().min(0).optional(), chunked: z.boolean().default(false) }

const ruleSchema = z.discriminatedUnion(
  'fault',
  [
    z.strictObject({
      ...when,
      fault: z.literal('status'),
      status: z.int().min(200).max(599),
      headers: z.record(z.string(), z.coerce.string()).default({}),
      /** A problem document if absent. */
      body: z.string().optional(),
    }),
    z.strictObject({ ...when, fault: z.literal('delay'), ms: count(DELAY_MAX_MS) }),
    /** No answer ever. */
    z.strictObject({ ...when, fault: z.literal('stall') }),
    /** The connection is reset in mid-body: TCP RST. */
    z.strictObject({ ...when, fault: z.literal('reset'), ...broken }),
    /** The connection is closed in mid-body as if all were said: TCP FIN. */
    z.strictObject({ ...when, fault: z.literal('cut'), ...broken }),
    /** The JSON breaks off, in an answer that is whole by its length. */
    z.strictObject({ ...when, fault: z.literal('truncate'), at_byte: broken.at_byte }),
    z.strictObject({ ...when, fault: z.literal('content_type'), type: z.string().min(1) }),
    /** The body comes a few bytes at a time. */
    z.strictObject({
      ...when,
      fault: z.literal('drip'),
      bytes: count(1_000_000).default(1),
      every_ms: count(DELAY_MAX_MS).default(100),
    }),
    /** A small gzip body that unpacks to this much. */
    z.strictObject({ ...when, fault: z.literal('gzip_bomb'), mib: count(10_000).default(300) }),
    /** The first rows of the page stand in it twice. */
    z.strictObject({ ...when, fault: z.literal('duplicate'), rows: count(1000).default(1) }),
    /** The next page is this page. */
    z.strictObject({ ...when, fault: z.literal('loop') }),
    /** Between two pages rows went (the first of this page are missed) or came (the last of the page before stand here again). */
    z.strictObject({
      ...when,
      fault: z.literal('shift'),
      drop: z.int().min(0).default(0),
      repeat: z.int().min(0).default(0),
    }),
    /** The total is wrong by so much, or absent. */
    z.strictObject({
      ...when,
      fault: z.literal('total'),
      add: z.int().default(0),
      absent: z.boolean().default(false),
    }),
    /** A web page to sign in, with status 200. */
    z.strictObject({ ...when, fault: z.literal('html') }),
    z.strictObject({
      ...when,
      fault: z.literal('redirect'),
      to: z.string().min(1),
      status: z.union([301, 302, 303, 307, 308].map((code) => z.literal(code))).default(302),
    }),
  ],
  { error: (issue) => `${nameOf(issue.input)} is not one of ${FAULTS.join(', ')}` },
)
export type FaultRule = z.output<typeof ruleSchema>

export const FAULTS: readonly string[] = ruleSchema.options.map((option) => option.shape.fault.value)

const faultsSchema = z.strictObject({
  /** What chance follows from. */
  seed: z.int().default(1),
  faults: z.array(ruleSchema).min(1, { error: 'at least one rule' }),
})
export type Faults = z.output<typeof faultsSchema>
export type FaultsInput = z.input<typeof faultsSchema>

/** @throws LeadsheetError config_invalid with a line for each mistake: its place and what is accepted */
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
    hint: 'The README shows an example under "The reference service".',
  })
}

/** @throws LeadsheetError config_invalid, also where the file cannot be read or is no YAML */
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

/* Which faults a request meets. Every rule counts the requests that are its own. */

export interface FaultPlan {
  /** The faults of one request, in the order of the rules; counts it. */
  facing(method: string, path: string): readonly FaultRule[]
}

export function planFaults({ seed, faults }: Faults): FaultPlan {
  const rules = faults.map((rule, index) => ({
    rule,
    pattern: patternOf(rule.path),
    random: randomFor('fault', seed, index),
    met: 0,
  }))
  return {
    facing: (method, path) => {
      const struck: FaultRule[] = []
      for (const each of rules) {
        const { rule } = each
        if (rule.method !== undefined && rule.method !== method) continue
        if (!each.pattern.test(path)) continue
        each.met++
        // Drawn for every request, so that whether one is struck does not hang on the other conditions.
        const isDrawn = rule.probability === undefined || each.random.chance(rule.probability)
        if (isDrawn && isTurn(rule, each.met)) struck.push(rule)
      }
      return struck
    },
  }
}

/** @param hit which of the rule's requests this is, from 1 */
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
