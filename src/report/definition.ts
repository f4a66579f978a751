/**
 * Parses and writes `report.yaml`, which defines a report. The settings override its entries, all optional.
 */
import { isMap, isNode, isScalar, LineCounter, parseDocument, stringify } from 'yaml'
import { z } from 'zod'
import { BLOCKS, type BlockName, PERIOD_KINDS, SEND_POLICIES, type SendPolicy } from '../domain/choices.ts'
import type { PeriodKind } from '../domain/figures.ts'
import { errorText, LeadsheetError, shellCommand } from '../errors.ts'
import type { TemplateFile } from './render/template-files.ts'
import { upperFirst } from './words/clean-text.ts'

export interface ReportDefinition {
  /** The title of the report; null if the title is derived from the report's name. */
  readonly title: string | null
  readonly period: PeriodKind
  readonly blocks: readonly BlockName[]
  readonly sendWhen: SendPolicy
  readonly queries: readonly QueryDefinition[]
}

export interface QueryDefinition {
  /** The name of the query: lower-case letters, digits and hyphens, unique in its report. */
  readonly name: string
  readonly title: string
  readonly note: string | null
  readonly sql: string
  /** The place of the query in its file, for error messages: `templates/weekly/report.yaml:12:10`. */
  readonly place: string
}

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

const line = (accepted: string) => z.string({ error: accepted }).trim().min(1, { error: accepted })
const group = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, { error: 'names and values, indented below' })
const oneOf = <const T extends readonly string[]>(names: T) =>
  z.enum(names, { error: `one of ${names.join(', ')}` })

const query = group({
  title: line('a title').optional(),
  note: line('a sentence').optional(),
  sql: line('a SELECT'),
})
const threshold = group({ if_threshold: line('a condition, such as "stalled > 20"') })
const schema = group({
  title: line('a title').optional(),
  period: oneOf(PERIOD_KINDS).default('day'),
  blocks: z
    .array(oneOf(BLOCKS), { error: 'a list of blocks' })
    .min(1, { error: 'at least one block' })
    .default([...BLOCKS]),
  send_when: z
    .union([oneOf(SEND_POLICIES), threshold], {
      error: `${SEND_POLICIES.join(', ')}, or if_threshold with a condition`,
    })
    .default('always'),
  queries: z.record(z.string().regex(NAME), query, { error: 'names, each with title and sql' }).default({}),
})

/**
 * Names each mistake with its place, the found and the expected value.
 * @throws LeadsheetError report_template
 */
export function parseDefinition(file: TemplateFile): ReportDefinition {
  const lines = new LineCounter()
  const document = parseDocument(file.text, { lineCounter: lines, prettyErrors: false })
  const placeAt = (offset: number) => {
    const { line: row, col } = lines.linePos(offset)
    return `${file.path}:${row}:${col}`
  }
  if (document.errors.length > 0) {
    throw mistakes(
      file,
      document.errors.map(({ pos, message }) => `${placeAt(pos[0])}  ${message}`),
    )
  }
  const place = (path: Path, part: 'value' | 'name' = 'value') => placeAt(offsetOf(document, path, part))
  const data = toData(file, document)
  const parsed = schema.safeParse(data)
  if (!parsed.success) {
    throw mistakes(
      file,
      parsed.error.issues.flatMap((issue) => explainIssue(issue, data, place)),
    )
  }
  const { title, period, blocks, send_when: sendWhen, queries } = parsed.data
  return {
    title: title ?? null,
    period,
    blocks,
    sendWhen,
    queries: Object.entries(queries).map(([name, each]) => ({
      name,
      title: each.title ?? titleOf(name),
      note: each.note ?? null,
      sql: each.sql,
      place: place(['queries', name, 'sql']),
    })),
  }
}

/** The definition of a report without a `report.yaml`. */
export const DEFAULT_DEFINITION: ReportDefinition = {
  title: null,
  period: 'day',
  blocks: BLOCKS,
  sendWhen: 'always',
  queries: [],
}

type Path = readonly (string | number)[]
type Document = ReturnType<typeof parseDocument>
type FindPlace = (path: Path, part?: 'value' | 'name') => string

function toData(file: TemplateFile, document: Document): unknown {
  try {
    // A key without a value counts as absent, for example `queries:` if all lines below it are comments.
    return document.toJS({ reviver: (_, value) => value ?? undefined }) ?? {}
  } catch (error) {
    // `toJS` throws for an alias without its anchor, or for too many aliases.
    throw mistakes(file, [`${file.path}:1:1  ${errorText(error)}`])
  }
}

function mistakes({ path }: TemplateFile, problems: readonly string[]): LeadsheetError {
  const count = problems.length === 1 ? 'a mistake' : `${problems.length} mistakes`
  return new LeadsheetError(
    'report_template',
    `${count} in ${path}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    { hint: 'docs/reference/report-definition.md lists what a report.yaml may hold.' },
  )
}

function explainIssue(issue: z.core.$ZodIssue, data: unknown, place: FindPlace): string[] {
  const path = issue.path.filter((key) => typeof key !== 'symbol')
  const name = nameOf(path)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(
      (key) =>
        `${place([...path, key], 'name')}  ${nameOf([...path, key])}: there is no such setting; known here: ${knownAt(path)}`,
    )
  }
  if (issue.code === 'invalid_key') {
    return [`${place(path, 'name')}  ${name}: expected a name of lower-case letters, digits and hyphens`]
  }
  const found = path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    data,
  )
  const shown = found === undefined || found === null ? 'not set' : `found ${JSON.stringify(found)}`
  return [`${place(path)}  ${name}: ${shown}, expected ${issue.message}`]
}

function nameOf(path: Path): string {
  const name = path.reduce<string>(
    (text, key) => `${text}${typeof key === 'number' ? `[${key}]` : `.${key}`}`,
    '',
  )
  return name.slice(1) || 'report.yaml'
}

function knownAt(path: Path): string {
  const inner = path[0] === 'queries' ? query : schema
  return Object.keys(inner.shape).join(', ')
}

/** Finds where a setting's value or name begins, or else its innermost existing group. */
function offsetOf(document: Document, path: Path, part: 'value' | 'name'): number {
  for (let length = path.length; length > 0; length--) {
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true)
    const pair = isMap(parent)
      ? parent.items.find((item) => isScalar(item.key) && item.key.value === path[length - 1])
      : undefined
    const isName = part === 'name' || length < path.length
    const node = isName && pair ? pair.key : document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

/** Turns `by-industry` into `By industry`. */
function titleOf(name: string): string {
  return upperFirst(name.replaceAll('-', ' '))
}

/** Copies the period, the blocks and the send policy of `from`. */
export function scaffoldReport(
  name: string,
  from: Pick<ReportDefinition, 'period' | 'blocks' | 'sendWhen'>,
): string {
  // `stringify` adds quotes to names such as 2026, which YAML would read as a number.
  const title = stringify(titleOf(name)).trim()
  const sendWhen = typeof from.sendWhen === 'string' ? from.sendWhen : stringify(from.sendWhen, FLOW).trim()
  return `# All of this may be left out. What it means: docs/reference/report-definition.md
title: ${title}
period: ${from.period} # ${PERIOD_KINDS.join(', ')}
send_when: ${sendWhen} # ${SEND_POLICIES.join(', ')}, or { if_threshold: new_leads < 10 }

# From top to bottom. Take out what nobody reads.
blocks:
${withQueries(from.blocks)
  .map((block) => `  - ${block}${block === 'queries' ? ' # the tables below' : ''}\n`)
  .join('')}
${QUERIES}`
}

const FLOW = { collectionStyle: 'flow' } as const

/** Returns the blocks with `queries` after the key figures, because recipients notice tables there. */
function withQueries(blocks: readonly string[]): string[] {
  const others = blocks.filter((block) => block !== 'queries')
  const at = others.indexOf('kpis') + 1 || others.length
  return [...others.slice(0, at), 'queries', ...others.slice(at)]
}

const QUERIES = `# A table each. SQL reads what ${shellCommand('query "SELECT * FROM dictionary"')} shows, and knows
#   :from, :to               the period, in UTC; :to is no more part of it
#   :prior_from, :prior_to   the period that it is compared with
#   chosen                   the ids of the leads that the report is about, after the filter of its recipient
#   :pipelines, :stalled_days, :top_score
queries:
  by-industry:
    title: New leads by industry
    note: Most first
    sql: |
      SELECT ifnull(company_industry, 'Unknown') AS industry,
        count(*) AS leads,
        avg(score) AS mean_score
      FROM lead_now
      WHERE id IN chosen AND created_at >= :from AND created_at < :to
      GROUP BY industry
      ORDER BY leads DESC
      LIMIT 10

  largest-open:
    title: Largest open leads
    sql: |
      SELECT company_name AS company, status AS stage, value_amount AS value, value_currency AS currency
      FROM lead_now
      WHERE id IN chosen AND outcome = 'open' AND value_amount IS NOT NULL
      ORDER BY value DESC
      LIMIT 10
`
