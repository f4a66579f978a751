/**
 * `leadsheet pipelines`: creates a discovery pipeline from criteria, and shows the statistics of a
 * pipeline. `leadsheet agents`: shows what the AI agents are doing now.
 */
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { type PipelineCreate, pipelineCreateSchema } from '../../../contract/pipeline.ts'
import type { Agent, PipelineStat, StageStat } from '../../../domain/model.ts'
import { LeadsheetError } from '../../../errors.ts'
import type { Source } from '../../../upstream/source.ts'
import { addExamples, collect, instant, showing, wholeNumber } from '../../command.ts'
import { type Column, fields, formatInstant, formatMoney, formatShare, table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'
import { keepReadable, withSource } from './with-source.ts'

interface CreateOptions {
  readonly name: string
  readonly industry?: readonly string[]
  readonly region?: readonly string[]
  readonly country?: readonly string[]
  readonly keyword?: readonly string[]
  readonly employeesMin?: number
  readonly employeesMax?: number
  readonly limit?: number
  readonly idempotencyKey?: string
}

interface StatsOptions {
  readonly from?: string
  readonly to?: string
}

const STAGES: readonly Column<StageStat>[] = [
  { title: 'STAGE', value: (stage) => stage.status },
  { title: 'NOW', value: (stage) => stage.current },
  { title: 'REACHED', value: (stage) => stage.reached },
  { title: 'CONVERSION', value: (stage) => formatShare(stage.conversion) },
  { title: 'MEDIAN HOURS', value: (stage) => stage.medianHours },
]

export function definePipelines(command: Command, terminal: Terminal): void {
  const create = command
    .command('create')
    .description('create a discovery pipeline; a lead must match every criterion by one of its values')
    .requiredOption('--name <name>', 'name of the pipeline')
    .option('--industry <name>', 'industry of the company; may be repeated', collect)
    .option('--region <name>', 'region of the company, such as Europe; may be repeated', collect)
    .option('--country <name>', 'country of the company, such as Germany; may be repeated', collect)
    .option('--keyword <word>', "word in the company's description of itself; may be repeated", collect)
    .option(
      '--employees-min <number>',
      'smallest number of employees of the company',
      wholeNumber(0, 10_000_000),
    )
    .option(
      '--employees-max <number>',
      'largest number of employees of the company',
      wholeNumber(0, 10_000_000),
    )
    .option('--limit <number>', 'stop after this many leads', wholeNumber(1, 100_000))
    .option(
      '--idempotency-key <key>',
      'key that makes a retry safe: one key never creates two pipelines (default: a new key)',
    )
    .action(showing(terminal, createPipeline))
  addExamples(create, [
    'pipelines create --name "Robotics DACH" --industry Industrials --country Germany --employees-min 10',
  ])

  const stats = command
    .command('stats')
    .description('show the statistics of a pipeline, for all leads or those created in a period')
    .argument('<id>', 'id of the pipeline')
    .option('--from <time>', 'only leads created at or after this day or time', instant)
    .option('--to <time>', 'only leads created before this day or time', instant)
    .action(async (id: string, options: StatsOptions) =>
      terminal.show(
        await withSource(terminal, (source) => fetchStats(terminal, source, id, options), 'reads'),
      ),
    )
  addExamples(stats, [
    'pipelines stats pl_01',
    'pipelines stats pl_01 --from 2026-10-01 --to 2026-11-01 --json',
  ])
}

async function createPipeline(terminal: Terminal, options: CreateOptions): Promise<Result> {
  const body = pipelineFrom(options)
  const key = options.idempotencyKey ?? randomUUID()
  const pipeline = await withSource(terminal, (source) => source.createPipeline(body, key, terminal.signal))
  return {
    data: pipeline,
    text: [
      fields({
        Pipeline: pipeline.id,
        Name: pipeline.name,
        Status: pipeline.status,
        Created: formatInstant(pipeline.created_at),
        'Idempotency key': key,
      }),
    ],
  }
}

async function fetchStats(
  terminal: Terminal,
  source: Source,
  id: string,
  period: StatsOptions,
): Promise<Result> {
  const raw = await source.fetchPipelineStats(id, period, terminal.signal)
  const mapped = source.mapPipelineStat(raw, id, new Date().toISOString())
  const { readable, notes } = keepReadable(terminal, [mapped])
  return {
    data: raw,
    text: readable.flatMap((stat) => [fields(fieldsOf(stat)), table(stat.stages, STAGES)]),
    notes,
  }
}

function fieldsOf(stat: PipelineStat) {
  return {
    Pipeline: stat.pipelineId,
    Name: stat.name,
    Status: stat.status,
    'As of': formatInstant(stat.asOf),
    Leads: stat.leads,
    Open: stat.open,
    Won: stat.won,
    Lost: stat.lost,
    Disqualified: stat.disqualified,
    'Win rate': formatShare(stat.winRate),
    'Open value': stat.openValue && formatMoney(stat.openValue.amount, stat.openValue.currency),
    'Won value': stat.wonValue && formatMoney(stat.wonValue.amount, stat.wonValue.currency),
  }
}

/** @throws LeadsheetError usage_invalid, with a line for each mistake */
function pipelineFrom(options: CreateOptions): PipelineCreate {
  const { name, employeesMin: min, employeesMax: max } = options
  const criteria = {
    industries: options.industry,
    regions: options.region,
    countries: options.country,
    keywords: options.keyword,
    employees: min === undefined && max === undefined ? undefined : { min, max },
    limit: options.limit,
  }
  const parsed = pipelineCreateSchema.safeParse({ name, criteria })
  if (parsed.success) return parsed.data
  const mistakes = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw new LeadsheetError(
    'usage_invalid',
    `the pipeline has mistakes:\n${mistakes.map((line) => `  ${line}`).join('\n')}`,
    {
      mistakes,
      hint: 'Criteria are industries, regions, countries, keywords (lists), employees (min, max) and limit.',
    },
  )
}

const COLUMNS: readonly Column<Agent>[] = [
  { title: 'AGENT', value: (agent) => agent.name },
  { title: 'KIND', value: (agent) => agent.kind },
  { title: 'STATUS', value: (agent) => agent.status },
  { title: 'TASK', value: (agent) => agent.taskType?.replaceAll('_', ' ') },
  { title: 'PIPELINE', value: (agent) => agent.taskPipelineId },
  { title: 'DONE', value: (agent) => formatShare(agent.taskProgress) },
  { title: 'LAST SEEN', value: (agent) => formatInstant(agent.lastSeenAt) },
  { title: 'TASKS 24H', value: (agent) => agent.tasks24h },
  { title: 'ERRORS 24H', value: (agent) => agent.errors24h },
  { title: 'LAST ERROR', value: (agent) => agent.lastErrorMessage },
]

export function defineAgents(command: Command, terminal: Terminal): void {
  command.action(async () => terminal.show(await withSource(terminal, fetchAll, 'reads')))
  addExamples(command, ['agents', 'agents --json'])
  async function fetchAll(source: Source): Promise<Result> {
    const records = await source.fetchAgents(terminal.signal)
    const { readable, notes } = keepReadable(terminal, records.map(source.mapAgent))
    return { data: records, text: [table(readable, COLUMNS)], notes }
  }
}
