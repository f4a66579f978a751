/**
 * Wire records to the model. Only what identifies and dates a record is required of it: a record without
 * that is held with the reason, one with less comes through with nulls. The raw record stays beside it.
 */
import { z } from 'zod'
import type { Agent, HeldRow, Instant, Lead, Money, PipelineStat } from '../model.ts'

/** Identifiers are text, digit for digit, whatever the wire has. */
const id = z.union([z.string().min(1), z.number().transform(String)])
const text = z.string().nullish()
const number = z.number().nullish()
const instant = z.string().transform((value, context): Instant => {
  const ms = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)$/i.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isFinite(ms)) return new Date(ms).toISOString()
  context.addIssue(`${JSON.stringify(value)} is not an instant with a zone`)
  return z.NEVER
})
/** The columns of counts take nothing else. */
const count = z.int().nullish()
const money = z.object({ amount: number, currency: text }).nullish()

const leadShape = z.object({
  id,
  pipeline_id: id,
  status: z.string().min(1),
  company: z
    .object({
      name: text,
      domain: text,
      industry: text,
      subindustry: text,
      employees: number,
      city: text,
      country: text,
      region: text,
      one_liner: text,
    })
    .nullish(),
  contact: z.object({ name: text, title: text, email: text }).nullish(),
  score: number,
  value: money,
  source: text,
  agent_id: id.nullish(),
  tags: z.array(z.string()).nullish(),
  created_at: instant,
  updated_at: instant,
  status_changed_at: instant.nullish(),
})

export function mapLead(raw: unknown): Lead | HeldRow {
  const parsed = leadShape.safeParse(raw)
  if (!parsed.success) return held('lead', 'id', raw, parsed.error)
  const lead = parsed.data
  return {
    id: lead.id,
    pipelineId: lead.pipeline_id,
    status: lead.status,
    companyName: lead.company?.name ?? null,
    companyDomain: lead.company?.domain ?? null,
    companyIndustry: lead.company?.industry ?? null,
    companySubindustry: lead.company?.subindustry ?? null,
    companyEmployees: lead.company?.employees ?? null,
    companyCity: lead.company?.city ?? null,
    companyCountry: lead.company?.country ?? null,
    companyRegion: lead.company?.region ?? null,
    companyOneLiner: lead.company?.one_liner ?? null,
    contactName: lead.contact?.name ?? null,
    contactTitle: lead.contact?.title ?? null,
    contactEmail: lead.contact?.email ?? null,
    score: lead.score ?? null,
    valueAmount: lead.value?.amount ?? null,
    valueCurrency: lead.value?.currency ?? null,
    source: lead.source ?? null,
    agentId: lead.agent_id ?? null,
    tags: lead.tags ?? [],
    createdAt: lead.created_at,
    updatedAt: lead.updated_at,
    statusChangedAt: lead.status_changed_at ?? lead.updated_at,
    raw: JSON.stringify(raw),
  }
}

const statShape = z.object({
  pipeline_id: id,
  name: text,
  status: text,
  as_of: instant,
  totals: z.object({ leads: count, open: count, won: count, lost: count, disqualified: count }).nullish(),
  stages: z
    .array(
      z.object({
        stage: z.string(),
        current: z.int(),
        reached: z.int(),
        conversion: number,
        median_hours: number,
      }),
    )
    .nullish(),
  open_value: money,
  won_value: money,
  win_rate: number,
})

export function mapPipelineStat(raw: unknown): PipelineStat | HeldRow {
  const parsed = statShape.safeParse(raw)
  if (!parsed.success) return held('pipeline_stat', 'pipeline_id', raw, parsed.error)
  const stat = parsed.data
  return {
    pipelineId: stat.pipeline_id,
    name: stat.name ?? null,
    status: stat.status ?? null,
    asOf: stat.as_of,
    leads: stat.totals?.leads ?? null,
    open: stat.totals?.open ?? null,
    won: stat.totals?.won ?? null,
    lost: stat.totals?.lost ?? null,
    disqualified: stat.totals?.disqualified ?? null,
    winRate: stat.win_rate ?? null,
    openValue: moneyOf(stat.open_value),
    wonValue: moneyOf(stat.won_value),
    stages: (stat.stages ?? []).map((stage) => ({
      status: stage.stage,
      current: stage.current,
      reached: stage.reached,
      conversion: stage.conversion ?? null,
      medianHours: stage.median_hours ?? null,
    })),
    raw: JSON.stringify(raw),
  }
}

function moneyOf(value: z.infer<typeof money>): Money | null {
  const { amount = null, currency = null } = value ?? {}
  return amount === null || currency === null ? null : { amount, currency }
}

const agentShape = z.object({
  id,
  name: text,
  kind: text,
  status: z.string().min(1),
  status_changed_at: instant.nullish(),
  current_task: z
    .object({
      type: text,
      pipeline_id: id.nullish(),
      lead_id: id.nullish(),
      started_at: instant.nullish(),
      progress: number,
    })
    .nullish(),
  last_seen_at: instant.nullish(),
  last_24h: z.object({ tasks: count, errors: count }).nullish(),
  last_error: z.object({ at: instant.nullish(), message: text }).nullish(),
})

export function mapAgent(raw: unknown): Agent | HeldRow {
  const parsed = agentShape.safeParse(raw)
  if (!parsed.success) return held('agent', 'id', raw, parsed.error)
  const agent = parsed.data
  return {
    id: agent.id,
    name: agent.name ?? agent.id,
    kind: agent.kind ?? null,
    status: agent.status,
    statusChangedAt: agent.status_changed_at ?? null,
    taskType: agent.current_task?.type ?? null,
    taskPipelineId: agent.current_task?.pipeline_id ?? null,
    taskLeadId: agent.current_task?.lead_id ?? null,
    taskStartedAt: agent.current_task?.started_at ?? null,
    taskProgress: agent.current_task?.progress ?? null,
    lastSeenAt: agent.last_seen_at ?? null,
    tasks24h: agent.last_24h?.tasks ?? null,
    errors24h: agent.last_24h?.errors ?? null,
    lastErrorAt: agent.last_error?.at ?? null,
    lastErrorMessage: agent.last_error?.message ?? null,
    raw: JSON.stringify(raw),
  }
}

/** Tells a record that could not be mapped from one that could. */
export function isHeld(mapped: object): mapped is HeldRow {
  return 'reason' in mapped
}

function held(
  resource: HeldRow['resource'],
  identifiedBy: 'id' | 'pipeline_id',
  raw: unknown,
  error: z.ZodError,
): HeldRow {
  const reason = error.issues
    .map((issue) => `${issue.path.join('.') || 'record'}: ${issue.message}`)
    .join('; ')
  const identified = z.object({ [identifiedBy]: id }).safeParse(raw)
  const recordId = identified.success ? (identified.data[identifiedBy] ?? null) : null
  return { resource, recordId, reason, raw: JSON.stringify(raw) }
}
