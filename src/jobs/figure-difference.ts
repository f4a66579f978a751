/**
 * The figures of a kept edition beside the same ones asked for again. Compared is what a period tells; not what only
 * tells how things stood when it was asked (agents, freshness, the service's own numbers), nor what leads are called.
 */
import type { ReportFigures } from '../figures.ts'

export interface FigureDifference {
  /** Such as `new_leads.current`, `won_value.prior.USD` or `stalled.rows.lead-17`. */
  readonly figure: string
  /** Null where there was none. */
  readonly kept: string | number | null
  readonly now: string | number | null
}

const COMPARED = [
  'leads',
  'newLeads',
  'won',
  'lost',
  'wonValue',
  'winRate',
  'openValue',
  'sparklines',
  'trend',
  'changes',
  'topLeads',
  'stalled',
  'byPipeline',
  'bySource',
] as const satisfies readonly (keyof ReportFigures)[]

/** Entries of two lists are the same where the first of these that they have is. */
const KEYS = ['id', 'day', 'kind', 'source', 'currency']

/** Of a lead or a pipeline as it is now, whatever the period; so is a status of which none was known then. */
const DESCRIPTIONS = new Set([
  ...['companyName', 'companyOneLiner', 'companyDomain', 'companyCountry', 'contactName', 'contactTitle'],
  ...['pipelineName', 'name', 'source', 'status', 'changedAt'],
])

type ComparedFigures = Pick<ReportFigures, (typeof COMPARED)[number]>
type Fields = Readonly<Record<string, unknown>>

/** Empty where all are equal. */
export function compareFigures(kept: ComparedFigures, now: ComparedFigures): FigureDifference[] {
  return COMPARED.flatMap((name) => compareValues(snakeCase(name), kept[name], now[name]))
}

function compareValues(figure: string, kept: unknown, now: unknown): FigureDifference[] {
  const [before, after] = [fieldsOf(kept), fieldsOf(now)]
  if (before === null || after === null) {
    return kept === now ? [] : [{ figure, kept: shown(kept), now: shown(now) }]
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => compareValues(`${figure}.${name}`, before[name], after[name]))
}

/** What is compared one by one: the fields of an object, or the entries of a list by their key; null of anything else. */
function fieldsOf(value: unknown): Fields | null {
  if (Array.isArray(value))
    return Object.fromEntries(value.map((each, index) => [keyOf(each) ?? index, each]))
  if (!isObject(value)) return null
  const told = Object.entries(value).filter(([name]) => !DESCRIPTIONS.has(name))
  return Object.fromEntries(told.map(([name, field]) => [snakeCase(name), field]))
}

function keyOf(entry: unknown): string | null {
  if (!isObject(entry)) return null
  const key = KEYS.find((name) => name in entry)
  return key === undefined ? null : String(entry[key])
}

/** A whole entry that only one side has is told by its amount or its name. */
function shown(value: unknown): string | number | null {
  if (typeof value === 'string' || typeof value === 'number') return value
  if (!isObject(value)) return null
  const { amount, companyName, name, total } = value
  return shown(amount ?? companyName ?? name ?? total)
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

/** `newLeads` -> `new_leads` */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
