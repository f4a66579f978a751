/** Defines a report and its recipients, merged from the settings and the report's folder. */
import {
  ATTACHED_FORMATS,
  ATTACHED_LISTS,
  type BlockName,
  type SendPolicy,
  type StaleDataPolicy,
} from '../../domain/choices.ts'
import type { LeadFilter, PeriodKind } from '../../domain/figures.ts'
import type { Goal } from '../../domain/insight.ts'
import { LeadsheetError } from '../../errors.ts'
import type { QueryDefinition } from '../../report/definition.ts'
import type { WeekStart } from '../../schedule/zone.ts'
import { checkSendPolicy } from './send-policy.ts'

/** The maximum number of rows of a list that an issue stores. Nobody works through more rows in a file. */
export const LIST_ROWS_MAX = 1000

export interface Report extends Audience {
  readonly name: string
  readonly template: string
  /** Null if the report's name in the recipient's language is shown. */
  readonly title: string | null
  readonly kind: PeriodKind
  /** The regions and dates of the settings on whose holidays nobody works, besides weekends. */
  readonly holidays: readonly string[]
  readonly weekStarts?: WeekStart
  readonly goals: readonly Goal[]
  readonly fiscalYearStarts: number
  readonly sendWhen: SendPolicy
  readonly gate: GateSettings
  readonly stalledDays: number
  readonly topScore: number
  readonly queries: readonly QueryDefinition[]
  /** The link to a lead, such as `https://crm.example.com/leads/{id}`; null if leads are not linked. */
  readonly leadUrl: string | null
  /** The names of the declared fields that attached lists show. */
  readonly columns?: readonly string[]
}

export interface GateSettings {
  /** Counted from when the report is first found to be due. */
  readonly waitMinutes: number
  readonly onStaleData: StaleDataPolicy
}

/** The settings that can differ between recipients. The report's own values apply to its page in the archive. */
export interface Audience {
  readonly locale: string
  /** The report's own time zone also decides when its days begin. */
  readonly timeZone: string
  readonly filter: LeadFilter
  readonly blocks: readonly BlockName[]
  readonly attachments: readonly string[]
}

export interface Recipient extends Audience {
  readonly address: string
  readonly name: string | null
}

/** Empty if the filter is the report's own, otherwise the filter as JSON. */
export function variantOf(report: Pick<Report, 'filter'>, { filter }: Pick<Audience, 'filter'>): string {
  const [all, asked] = [report.filter, filter].map((each) => JSON.stringify(each))
  return asked === undefined || asked === all ? '' : asked
}

/**
 * Checks the send policy and the attachments of a report before an issue is made. The report's folder must
 * have been read, because queries in it can be attached too.
 * @throws LeadsheetError config_invalid
 */
export function checkReport(report: Report, recipients: readonly Recipient[]): void {
  checkSendPolicy(report.name, report.sendWhen)
  const lists = [...ATTACHED_LISTS, ...report.queries.map(({ name }) => name)]
  const known = ['charts', ...lists.flatMap((list) => ATTACHED_FORMATS.map((format) => `${list}.${format}`))]
  const wanted = [report, ...recipients].flatMap(({ attachments }) => attachments)
  const unknown = wanted.find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new LeadsheetError(
    'config_invalid',
    `The report ${report.name} has nothing to attach as ${unknown}`,
    {
      hint: `It has charts, and as .${ATTACHED_FORMATS.join(' or .')} ${lists.join(', ')}.`,
    },
  )
}
