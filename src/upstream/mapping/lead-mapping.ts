/**
 * Maps records of the upstream to leads, statistics and agents, as the profile says. A record without an id, with an
 * unreadable date or status, or with a number outside its range is quarantined (stored aside with the reason).
 * Any other field without a value becomes null or gets a default. The JSON of the record is kept too, but
 * only the beginning of an oversized record.
 */
import { fieldsWith, LEAD_FIELDS } from '../../domain/lead-fields.ts'
import type {
  Agent,
  Instant,
  Lead,
  Money,
  PipelineStat,
  QuarantinedRecord,
  StageStat,
  UnsureValue,
} from '../../domain/model.ts'
import {
  type FieldRule,
  readCount,
  readField,
  readInstant,
  readNumber,
  readText,
  toId,
  toText,
} from '../profile/field-rule.ts'
import type { Profile } from '../profile/profile.ts'
import { isFilledObject, readPath } from '../values/json.ts'
import {
  AMOUNT,
  COUNT,
  findUnsureReason,
  isOddText,
  isOutside,
  isPlaceholderTime,
  type NumberRange,
  RATE,
  toInstant,
  toNumber,
} from '../values/scalar.ts'
import { mapFields } from './field-mapping.ts'
import { fitRecord, type OversizedRecord } from './raw-record.ts'

/** Equal shapes of objects (here and in {@link NOTHING}) make the mapping fast. */
const FIELDS = LEAD_FIELDS.map((field) => {
  const { name, column, type, absent, isWhole, isPlanned } = {
    absent: null,
    isWhole: false,
    isPlanned: false,
    ...field,
  }
  return { name, column, type, absent, isWhole, isPlanned }
})
/** Mapped first, because an unreadable time puts the record into quarantine, unless it is only planned. */
const TIMES = FIELDS.filter(({ type }) => type === 'instant')
const VALUES = FIELDS.filter(({ name, type }) => name !== 'id' && type !== 'instant')
const NOTHING: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(FIELDS.map(({ name }) => [name, null])),
  raw: '',
  cleaned: [],
  cut: 0,
  unsure: [],
  fields: null,
}

type Ranges = readonly (readonly [name: string, range: NumberRange])[]

const LEAD_RANGES: Ranges = fieldsWith('range').map(({ column, range }) => [column, range])
const STAT_RANGES: Ranges = Object.entries({
  leads: COUNT,
  open: COUNT,
  won: COUNT,
  lost: COUNT,
  disqualified: COUNT,
  win_rate: RATE,
  open_value_amount: AMOUNT,
  won_value_amount: AMOUNT,
})
const STAGE_RANGES: Ranges = Object.entries({
  reached: COUNT,
  current: COUNT,
  conversion: RATE,
  median_hours: COUNT,
})
const AGENT_RANGES: Ranges = Object.entries({ task_progress: RATE, tasks_24h: COUNT, errors_24h: COUNT })

/** @param sent the JSON as received, which is stored; if absent, `raw` is written as JSON */
export function mapLead(raw: unknown, profile: Profile, sent?: string): Lead | QuarantinedRecord {
  const fields = profile.mapping.lead
  const id = readId(raw, fields.id)
  const fit = fitRecord(raw, sent)
  if ('reason' in fit) return oversized('lead', id, fit)
  const { record, cut } = fit
  if (id === null) return quarantine('lead', null, fit.text, `id: nothing at ${placesOf(fields.id)}`)
  const cleaned: string[] = []
  const unsure: UnsureValue[] = []
  let wrong: string | null = null
  const values: Record<string, unknown> = { ...NOTHING, id, raw: fit.text, cleaned, cut, unsure }
  for (const { name, column, isPlanned } of TIMES) {
    const value = readField(record, fields[column])
    const instant = toInstant(value)
    const flaw = instant === null ? flawOf(value) : null
    if (flaw === 'wrong' && isPlanned) unsure.push(unsureIn(column, 'none', String(value)))
    else if (flaw === 'wrong')
      wrong ??= `${column}: ${JSON.stringify(value).slice(0, 100)} is ${notATime(value)}`
    if (flaw === 'placeholder') cleaned.push(column)
    if (value === BARE) unsure.push(bareIn(column))
    values[name] = instant
  }
  wrong ??= findAbsurd(record, fields, LEAD_RANGES)
  // As unknown, the stage would turn won and lost leads open.
  const status = readField(record, fields.status)
  if (isFilledObject(status)) wrong ??= `status: ${JSON.stringify(status).slice(0, 100)} is not a text`
  if (wrong !== null) return quarantine('lead', id, fit.text, wrong)
  for (const { name, column, type, absent, isWhole } of VALUES) {
    const rule = fields[column]
    const value = readField(record, rule)
    if (type === 'text' && typeof value === 'string' && isOddText(value)) cleaned.push(column)
    if (value === BARE) unsure.push(bareIn(column))
    if (type !== 'list' && isFilledObject(value))
      unsure.push(unsureIn(column, 'none', Array.isArray(value) ? 'a list' : 'an object'))
    if (type === 'number') {
      const number = toNumber(value, rule?.decimal)
      const isBroken = isWhole && number !== null && !Number.isInteger(number)
      const why = isBroken ? 'none' : findUnsureReason(value, rule?.decimal)
      if (why !== null) unsure.push(unsureIn(column, why, String(value)))
      values[name] = isBroken ? null : number
    } else if (type === 'list') values[name] = listOf(value)
    // Only a status can be a yes or no. Elsewhere, false is an empty field.
    else values[name] = value === false && column !== 'status' ? absent : (toText(value) ?? absent)
  }
  values.fields = mapFields(record, profile.fields)
  // The cast is safe, because the type Lead has exactly the fields of LEAD_FIELDS, which are all set above.
  return values as unknown as Lead
}

/** The value that stands for a bare NaN in the JSON, see `parseJson`. */
const BARE = Number.POSITIVE_INFINITY

function bareIn(column: string): UnsureValue {
  return { column, why: 'none', text: null, hasComma: false }
}

function unsureIn(column: string, why: UnsureValue['why'], text: string): UnsureValue {
  const hasComma = why === 'none' && toNumber(text, 'comma') !== null
  return { column, why, text: text.slice(0, 40), hasComma }
}

/** @param observedAt the time to use if the statistics do not contain their own */
export function mapPipelineStat(
  raw: unknown,
  pipelineId: string,
  profile: Profile,
  observedAt: Instant,
): PipelineStat | QuarantinedRecord {
  const fit = fitRecord(raw)
  if ('reason' in fit) return oversized('pipeline_stat', pipelineId, fit)
  if (typeof raw !== 'object' || raw === null) {
    return quarantine('pipeline_stat', pipelineId, fit.text, 'statistics: not an object')
  }
  const fields = profile.mapping.stat
  const wrong = findAbsurd(raw, fields, STAT_RANGES) ?? findAbsurdStage(raw, profile)
  if (wrong !== null) return quarantine('pipeline_stat', pipelineId, fit.text, wrong)
  const number = (name: keyof typeof fields): number | null => readNumber(raw, fields[name])
  const count = (name: keyof typeof fields): number | null => readCount(raw, fields[name])
  return {
    pipelineId,
    name: readText(raw, fields.name),
    status: readText(raw, fields.status),
    asOf: readInstant(raw, fields.as_of) ?? observedAt,
    leads: count('leads'),
    open: count('open'),
    won: count('won'),
    lost: count('lost'),
    disqualified: count('disqualified'),
    winRate: number('win_rate'),
    openValue: moneyOf(number('open_value_amount'), readText(raw, fields.open_value_currency)),
    wonValue: moneyOf(number('won_value_amount'), readText(raw, fields.won_value_currency)),
    stages: stagesOf(raw, profile),
    raw: fit.text,
  }
}

export function mapAgent(raw: unknown, profile: Profile): Agent | QuarantinedRecord {
  const fields = profile.mapping.agent
  const id = readId(raw, fields.id)
  const fit = fitRecord(raw)
  if ('reason' in fit) return oversized('agent', id, fit)
  if (id === null) return quarantine('agent', null, fit.text, `id: nothing at ${placesOf(fields.id)}`)
  const wrong = findAbsurd(raw, fields, AGENT_RANGES)
  if (wrong !== null) return quarantine('agent', id, fit.text, wrong)
  const text = (name: keyof typeof fields): string | null => readText(raw, fields[name])
  return {
    id,
    name: text('name') ?? id,
    kind: text('kind'),
    status: text('status') ?? 'unknown',
    statusChangedAt: readInstant(raw, fields.status_changed_at),
    taskType: text('task_type'),
    taskPipelineId: text('task_pipeline_id'),
    taskLeadId: text('task_lead_id'),
    taskStartedAt: readInstant(raw, fields.task_started_at),
    taskProgress: readNumber(raw, fields.task_progress),
    lastSeenAt: readInstant(raw, fields.last_seen_at),
    tasks24h: readCount(raw, fields.tasks_24h),
    errors24h: readCount(raw, fields.errors_24h),
    lastErrorAt: readInstant(raw, fields.last_error_at),
    lastErrorMessage: text('last_error_message'),
    raw: fit.text,
  }
}

/** The usual fields by which a list of changes marks a deleted record (a tombstone). */
const DELETION_MARKS = [
  'deleted',
  'is_deleted',
  'isDeleted',
  'IsDeleted',
  '_deleted',
  'deleted_at',
  'deletedAt',
] as const

type Marking = { readonly mapping: Pick<Profile['mapping'], 'deleted'> }

/**
 * A mark is true, 1, yes, or a time that has come. Other fields say nothing: many upstreams empty them. A number that
 * is only called `deleted` may count something.
 */
export function isTombstone(raw: unknown, { mapping }: Marking, now = new Date()): boolean {
  if (typeof raw !== 'object' || raw === null) return false
  if (mapping.deleted !== undefined) return isMark(readField(raw, mapping.deleted), now)
  return DELETION_MARKS.some((name) => isMark(Reflect.get(raw, name), now, name !== 'deleted'))
}

function isMark(value: unknown, now: Date, takesOne = true): boolean {
  if (value === undefined || value === null || value === false) return false
  const text = toText(value) ?? ''
  if (/^(true|yes|y)$/i.test(text) || (takesOne && text === '1')) return true
  const at = value === 0 ? null : toInstant(value)
  return at !== null && at <= now.toISOString()
}

export function leadIdIn(raw: unknown, { mapping }: Profile): string | null {
  return readId(raw, mapping.lead.id)
}

export function isQuarantined(mapped: object): mapped is QuarantinedRecord {
  return 'reason' in mapped
}

/** Finds the first number outside its range and returns a reason that names it; null if there is none. */
function findAbsurd(
  record: unknown,
  fields: Readonly<Partial<Record<string, FieldRule>>>,
  ranges: Ranges,
): string | null {
  for (const [name, range] of ranges) {
    const value = readField(record, fields[name])
    if (!isOutside(value, range, fields[name]?.decimal)) continue
    const [min, max] = [range.min, range.max].map((limit) => limit.toLocaleString('en'))
    return `${name}: ${String(value).slice(0, 100)} is not between ${min} and ${max}`
  }
  return null
}

function stageItems(raw: unknown, { mapping: { stages } }: Profile) {
  const items = stages === undefined ? null : readPath(raw, stages.items)
  return { items: Array.isArray(items) ? items : [], fields: stages?.fields ?? {} }
}

function findAbsurdStage(raw: unknown, profile: Profile): string | null {
  const { items, fields } = stageItems(raw, profile)
  const wrong = items.map((item) => findAbsurd(item, fields, STAGE_RANGES)).find((each) => each !== null)
  return wrong === undefined ? null : `stages: ${wrong}`
}

function stagesOf(raw: unknown, profile: Profile): StageStat[] {
  const { items, fields } = stageItems(raw, profile)
  return items.flatMap((item: unknown): StageStat[] => {
    const status = readText(item, fields.status)
    const reached = readCount(item, fields.reached)
    const current = readCount(item, fields.current) ?? 0
    const conversion = readNumber(item, fields.conversion)
    const medianHours = readNumber(item, fields.median_hours)
    return status === null || reached === null ? [] : [{ status, reached, current, conversion, medianHours }]
  })
}

function moneyOf(amount: number | null, currency: string | null): Money | null {
  return amount === null || currency === null ? null : { amount, currency }
}

function listOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).map(toText).filter((text) => text !== null)
}

/** It is no time (`wrong`) or stands for "no time" (`placeholder`). An absent time has no flaw. */
function flawOf(value: unknown): 'wrong' | 'placeholder' | null {
  const isEmpty = typeof value === 'string' && value.trim() === ''
  if (value === null || value === false || value === BARE || isEmpty) return null
  return isPlaceholderTime(value) ? 'placeholder' : 'wrong'
}

function notATime(value: unknown): string {
  if (!/^\d+(\.\d+)?$/.test(String(value))) return 'not an instant'
  return 'no plausible time since 1970 (.NET ticks, FILETIME, or counted from another day?)'
}

function readId(raw: unknown, rule: FieldRule | undefined): string | null {
  return toId(readField(raw, rule))
}

function placesOf(rule: FieldRule | undefined): string {
  return (rule?.from ?? []).map((path) => path.join('.')).join(' or ') || 'no place (the mapping names none)'
}

function quarantine(
  resource: QuarantinedRecord['resource'],
  id: string | null,
  raw: string,
  reason: string,
): QuarantinedRecord {
  return { resource, id, reason, raw, isWhole: true }
}

function oversized(
  resource: QuarantinedRecord['resource'],
  id: string | null,
  record: OversizedRecord,
): QuarantinedRecord {
  return { resource, id, reason: record.reason, raw: record.stub, isWhole: false }
}
