/** The options of `figures`: the period, the pipelines, and conditions on leads. */
import { type Command, InvalidArgumentError } from 'commander'
import { stalledDaysOf } from '../../../app/configured-reports.ts'
import type { Config } from '../../../config/config.ts'
import { type DeclaredTypes, declaredTypesOf, filterFault } from '../../../config/declared-types.ts'
import { nearest } from '../../../config/setting-path.ts'
import { FILTER_COLUMNS } from '../../../domain/choices.ts'
import { filterKindOf } from '../../../domain/declared-fields.ts'
import type { FilterCondition } from '../../../domain/figures.ts'
import type { Instant, Period } from '../../../domain/model.ts'
import { daysBefore, periodBetween } from '../../../domain/period.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import type { Db } from '../../../store/db/store.ts'
import type { FigureScope } from '../../../store/figures/query.ts'
import { findLastCompleteRun } from '../../../store/sync/sync-run.ts'
import { collect, day } from '../../command.ts'

export interface ScopeOptions {
  readonly from?: string
  readonly to?: string
  readonly pipeline?: readonly string[]
  readonly where?: readonly GivenCondition[]
}

const DAYS_DEFAULT = 7

export function addScopeOptions(command: Command): void {
  command
    .option('--from <date>', 'first day of the period, in the time zone of the settings', day)
    .option(
      '--to <date>',
      'day after the last day of the period; only with --from (default: the last 7 whole days)',
      day,
    )
    .option('--pipeline <id>', 'only leads of this pipeline; may be repeated', collect)
    .option(
      '--where <condition>',
      "only leads that meet this condition now: source=crawl, 'score>=60'; may be repeated",
      condition,
    )
}

/**
 * @throws LeadsheetError usage_invalid if only one of `--from` and `--to` is given, or the period is empty
 */
export function periodOf({ from, to }: ScopeOptions, timeZone: string, now: Date): Period {
  if (from === undefined && to === undefined) return daysBefore(now, DAYS_DEFAULT, timeZone)
  if (from === undefined || to === undefined) {
    throw new LeadsheetError('usage_invalid', '--from and --to must be given together')
  }
  if (from >= to) {
    throw new LeadsheetError('usage_invalid', `the period from ${from} to ${to} has no days`, {
      hint: '--to is the day after the last one: --from 2026-11-20 --to 2026-11-21 is one day.',
    })
  }
  return periodBetween(from, to, timeZone)
}

/** @throws LeadsheetError usage_invalid if a pipeline is not in the local copy */
export function scopeOf(
  { pipeline, where }: ScopeOptions,
  config: Config,
  period: Period,
  pipelines: readonly { readonly id: string }[],
): FigureScope {
  for (const id of pipeline ?? []) requirePipeline(id, pipelines)
  return {
    from: period.from,
    to: period.to,
    filter: {
      pipelineIds: pipeline ?? null,
      conditions: conditionsOf(where ?? [], declaredTypesOf(config.api.profile)),
    },
    stalledDays: stalledDaysOf(config),
  }
}

/** @throws LeadsheetError report_no_data if no sync has read all leads yet */
export async function requireData(db: Db): Promise<Instant> {
  const whole = await findLastCompleteRun(db)
  if (whole) return whole.asOf
  throw new LeadsheetError('report_no_data', 'There are no figures: no sync has read all leads yet', {
    hint: `Run ${shellCommand('sync')} first.`,
  })
}

/** @throws LeadsheetError usage_invalid if the pipeline is not in the local copy */
export function requirePipeline(id: string, pipelines: readonly { readonly id: string }[]): void {
  const ids = pipelines.map((each) => each.id)
  if (ids.includes(id)) return
  const near = nearest(id, ids)
  throw new LeadsheetError('usage_invalid', `There is no pipeline ${JSON.stringify(id)} in the local copy`, {
    hint: near === null ? `There are: ${ids.slice(0, 20).join(', ') || 'none'}.` : `Did you mean ${near}?`,
  })
}

/** A condition from the command line: `--where company_country=Germany` or `--where 'score>=60'`. */
export interface GivenCondition {
  readonly field: string
  readonly operator: '=' | '>=' | '<='
  readonly value: string
}

/**
 * Parses one `--where` option and appends the condition to those parsed before. Commander calls this once per
 * option.
 */
export function condition(text: string, before: readonly GivenCondition[] = []): readonly GivenCondition[] {
  const [, field = '', operator = '', value = ''] = /^\s*(\w+)\s*(>=|<=|=)\s*(.*?)\s*$/s.exec(text) ?? []
  if (operator !== '=' && operator !== '>=' && operator !== '<=') {
    throw new InvalidArgumentError(
      'Expected a column of lead and a value: company_country=Germany, or score>=60.',
    )
  }
  return [...before, { field, operator, value }]
}

/**
 * Combines the conditions by column. If a text column has several values, a lead needs only one of them. If a
 * number column has several bounds, a lead must be within all of them.
 * @throws LeadsheetError usage_invalid for an unknown column, or a value that does not fit its column
 */
export function conditionsOf(given: readonly GivenCondition[], types: DeclaredTypes): FilterCondition[] {
  for (const each of given) refuseMisfit(each, types)
  return [...Map.groupBy(given, ({ field }) => field)].map(([field, ofField]) => {
    const type = types.get(field)
    const named = type === undefined ? { field } : { field, type }
    if (kindOf(field, types) !== 'number') return { ...named, in: ofField.map(({ value }) => value) }
    const bounds = (...operators: string[]) =>
      ofField.filter(({ operator }) => operators.includes(operator)).map(({ value }) => Number(value))
    const [least, most] = [bounds('>=', '='), bounds('<=', '=')]
    return {
      ...named,
      min: least.length > 0 ? Math.max(...least) : null,
      max: most.length > 0 ? Math.min(...most) : null,
    }
  })
}

function kindOf(field: string, types: DeclaredTypes): string | null {
  const type = types.get(field)
  return type === undefined
    ? (new Map<string, string>(Object.entries(FILTER_COLUMNS)).get(field) ?? null)
    : filterKindOf(type)
}

function refuseMisfit({ field, operator, value }: GivenCondition, types: DeclaredTypes): void {
  const kind = kindOf(field, types)
  const isNumber = value !== '' && Number.isFinite(Number(value))
  const fault =
    field === 'pipelines'
      ? 'ask with --pipeline'
      : (filterFault(field, types) ??
        (kind === 'number' && !isNumber ? `expected a number, not ${JSON.stringify(value)}` : null) ??
        (kind !== 'number' && operator !== '=' ? `it is text, so ask for ${field}=VALUE` : null))
  if (fault !== null) throw new LeadsheetError('usage_invalid', `--where ${field}: ${fault}`)
}
