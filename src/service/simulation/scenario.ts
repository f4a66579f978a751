/**
 * Reads and checks scenarios. A scenario is a history without trends and incidents. Only a list of known
 * effects changes it. Tests check whether leadsheet finds these effects and no others.
 */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import { errorText, LeadsheetError } from '../../errors.ts'
import { AGENTS } from './agents.ts'
import { DAY_MS } from './calendar.ts'
import { READY_PIPELINES } from './characters.ts'
import { type Random, randomFor } from './random.ts'

const DAYS_MAX = 3650
const days = (min: number) => {
  const error = `a whole number from ${min} to ${DAYS_MAX}`
  return z.int({ error }).min(min, { error }).max(DAYS_MAX, { error })
}
const times = z.number({ error: 'a number from 0 to 10' }).min(0).max(10)
const share = z.number({ error: 'a number from 0 to 1' }).min(0).max(1)
const nameOf = (names: readonly string[]) => z.enum(names, { error: `one of ${names.join(', ')}` })
const pipeline = nameOf(READY_PIPELINES.map(({ id }) => id)).optional()

/** The days of the history on which an effect applies. An effect without `days` never ends. */
const span = { from_day: days(0).default(0), days: days(1).optional() }

const effectSchema = z.discriminatedUnion(
  'effect',
  [
    /** Multiplies the number of discovered leads that meet all the conditions. */
    z.strictObject({
      effect: z.literal('discoveries'),
      times,
      ...span,
      pipeline,
      source: nameOf(AGENTS.flatMap((agent) => agent.sources)).optional(),
      country: z.string().min(1).optional(),
      agent: nameOf(AGENTS.filter(({ kind }) => kind === 'discovery').map(({ id }) => id)).optional(),
    }),
    /** Multiplies the chance that a lead is won after its meeting. */
    z.strictObject({ effect: z.literal('wins'), times, ...span, pipeline }),
    /** Leaves leads of this stage there for ever. */
    z.strictObject({
      effect: z.literal('dead-stage'),
      ...span,
      pipeline,
      stage: z.enum(['qualified', 'contacted', 'replied', 'meeting']),
    }),
    /**
     * Brings each contacted lead to a meeting. `win_rate` is the share of these leads that are won in the
     * last month of a quarter. `otherwise` is the share in the other months.
     */
    z.strictObject({ effect: z.literal('quarter-end'), win_rate: share, otherwise: share }),
    /** Multiplies the number of discovered leads on these dates of every year. */
    z.strictObject({
      effect: z.literal('holidays'),
      times,
      dates: z.array(z.string().regex(/^\d\d-\d\d$/, { error: 'a month and a day such as 12-25' })).min(1),
    }),
  ],
  { error: 'effect is one of discoveries, wins, dead-stage, quarter-end, holidays' },
)
type Effect = z.output<typeof effectSchema>

const scenarioSchema = z.strictObject({
  /** The number of new leads on an average working day, in all pipelines together. */
  leads_per_day: z.number({ error: 'a number from 1 to 1000' }).min(1).max(1000).default(40),
  /** The length of a new history in days. */
  history_days: days(1).default(365),
  effects: z.array(effectSchema).default([]),
})
export type Scenario = z.output<typeof scenarioSchema>

const LAST_WEEKS = { from_day: 345 }
/** The scenarios that can be chosen by name. Each has at most one effect. */
const NAMED: Readonly<Record<string, z.input<typeof scenarioSchema>>> = {
  null: {},
  shift: { effects: [{ effect: 'discoveries', times: 0.6, ...LAST_WEEKS }] },
  cause: { effects: [{ effect: 'discoveries', times: 0, agent: 'agt_scout_3', ...LAST_WEEKS }] },
  'dead-stage': { effects: [{ effect: 'dead-stage', stage: 'replied', from_day: 250 }] },
  'quarter-end': { effects: [{ effect: 'quarter-end', win_rate: 0.81, otherwise: 0.53 }] },
  holidays: {
    effects: [{ effect: 'holidays', times: 0.1, dates: ['01-01', '05-01', '11-11', '12-24', '12-25'] }],
  },
}
export const SCENARIO_NAMES: readonly string[] = Object.keys(NAMED)

/**
 * Checks a scenario.
 * @throws LeadsheetError config_invalid with a line for each mistake: its place and what is accepted there
 */
export function parseScenario(data: unknown, origin: string): Scenario {
  const parsed = scenarioSchema.safeParse(data)
  if (parsed.success) return parsed.data
  const lines = parsed.error.issues.map(
    ({ path, message }) => `${origin}  ${path.map(String).join('.') || 'the file'}: ${message}`,
  )
  throw new LeadsheetError('config_invalid', `The scenario has mistakes:\n${lines.join('\n')}`, {
    hint: 'docs/reference/reference-service.md shows an example under "Scenarios".',
  })
}

/**
 * Reads a scenario.
 * @param nameOrFile a name such as `shift`, or a YAML or JSON file
 * @throws LeadsheetError config_invalid for mistakes, and for a file that cannot be read or is not YAML
 */
export function readScenario(nameOrFile: string): Scenario {
  if (Object.hasOwn(NAMED, nameOrFile)) return parseScenario(NAMED[nameOrFile], nameOrFile)
  let data: unknown
  try {
    data = parse(readFileSync(nameOrFile, 'utf8'))
  } catch (cause) {
    const reason = errorText(cause).split('\n')[0]
    throw new LeadsheetError('config_invalid', `The scenario ${nameOrFile} cannot be read: ${reason}`, {
      hint: `Give a YAML or JSON file, or one of ${SCENARIO_NAMES.join(', ')}.`,
      cause,
    })
  }
  return parseScenario(data, nameOrFile)
}

/** A discovery, with the facts that decide which effects of the scenario apply to it. */
interface Found {
  readonly pipelineId: string
  readonly at: number
  readonly agentId: string
  readonly source: string
}

/** The scenario, and the midnight (UTC) at which its history starts, in milliseconds since 1970. */
interface Stage {
  readonly scenario: Scenario
  readonly epochAt: number
}

/**
 * Returns the factor by which the scenario multiplies the number of discoveries like this one.
 * @param country the country whose effects are applied; if absent, the effects without a country are applied
 */
export function discoveryFactor({ scenario, epochAt }: Stage, found: Found, country?: string): number {
  let factor = 1
  for (const effect of scenario.effects) {
    if (effect.effect === 'holidays' && country === undefined && effect.dates.includes(dateOf(found.at)))
      factor *= effect.times
    if (effect.effect !== 'discoveries' || effect.country !== country) continue
    if (!isIn(effect, epochAt, found.at, found.pipelineId)) continue
    if ((effect.agent ?? found.agentId) !== found.agentId) continue
    if ((effect.source ?? found.source) === found.source) factor *= effect.times
  }
  return factor
}

/** Lists the countries that the effects of the scenario name. */
export function listCountries({ effects }: Scenario): readonly string[] {
  return effects.flatMap((effect) => (effect.effect === 'discoveries' ? (effect.country ?? []) : []))
}

/** Rounds `mean` up or down at random, so that the average of many results is `mean`. */
export function drawNear(mean: number, random: Random): number {
  return Math.floor(mean) + (random.chance(mean % 1) ? 1 : 0)
}

/** Returns whether an effect of the scenario keeps the lead in its stage for ever. */
export function isDead(
  { scenario, epochAt }: Stage,
  lead: { readonly status: string; readonly pipeline_id: string },
  at: number,
): boolean {
  return scenario.effects.some(
    (effect) =>
      effect.effect === 'dead-stage' &&
      effect.stage === lead.status &&
      isIn(effect, epochAt, at, lead.pipeline_id),
  )
}

/** Returns whether an effect of the scenario brings every contacted lead to a meeting. */
export function meetsAlways({ effects }: Scenario): boolean {
  return effects.some(({ effect }) => effect === 'quarter-end')
}

/**
 * Returns whether a lead is won after its meeting.
 * @param chance the chance from 0 to 1 that the lead would be won if the scenario had no effects
 */
export function isWonAfterMeeting(
  { scenario, epochAt, seed }: Stage & { readonly seed: number },
  lead: { readonly id: string; readonly pipeline_id: string },
  at: number,
  chance: number,
): boolean {
  let rate = chance
  for (const effect of scenario.effects) {
    if (effect.effect === 'wins' && isIn(effect, epochAt, at, lead.pipeline_id)) rate *= effect.times
    if (effect.effect === 'quarter-end') {
      const isLastMonth = new Date(at).getUTCMonth() % 3 === 2
      rate = isLastMonth ? effect.win_rate : effect.otherwise
    }
  }
  return randomFor(seed, 'decision', lead.id).chance(rate)
}

function isIn(
  effect: Extract<Effect, { from_day: number }>,
  epochAt: number,
  at: number,
  pipelineId: string,
): boolean {
  const day = Math.floor((at - epochAt) / DAY_MS)
  const isInSpan = day >= effect.from_day && day < effect.from_day + (effect.days ?? Number.POSITIVE_INFINITY)
  return isInSpan && (effect.pipeline ?? pipelineId) === pipelineId
}

/** Returns the month and the day, such as 12-25. */
function dateOf(at: number): string {
  return new Date(at).toISOString().slice(5, 10)
}
