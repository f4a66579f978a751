/** A report and who reads it: what the settings and the report's folder say, put together. */
import {
  ATTACHED_FORMATS,
  type SendPolicy,
  type StaleDataPolicy,
  type VolumeDropPolicy,
} from '../../domain/choices.ts'
import type { LeadFilter, PeriodKind } from '../../domain/figures.ts'
import { LeadsheetError } from '../../errors.ts'
import { ATTACHED_LISTS, type BlockName } from '../../report/blocks/registry.ts'
import type { QueryDefinition } from '../../report/definition.ts'
import { checkSendPolicy } from './send-policy.ts'

/** Rows of a list that an issue keeps at most: as many as somebody may want to work through in a file. */
export const LIST_ROWS_MAX = 1000

export interface Report extends Reader {
  readonly name: string
  readonly template: string
  /** Null where its name says it, in the words of its reader. */
  readonly title: string | null
  readonly kind: PeriodKind
  /** Dates, besides Saturdays and Sundays, on which nobody works: `2026-12-25`. */
  readonly holidays: readonly string[]
  readonly sendWhen: SendPolicy
  readonly gate: GateSettings
  readonly stalledDays: number
  readonly topScore: number
  readonly queries: readonly QueryDefinition[]
  /** `https://crm.example.com/leads/{id}`; null for no links. */
  readonly leadUrl: string | null
}

/** What becomes of a report whose data are not as they should be. */
export interface GateSettings {
  /** For a sync that covers its period, from when it is seen to be due. */
  readonly waitMinutes: number
  readonly onStaleData: StaleDataPolicy
  readonly onVolumeDrop: VolumeDropPolicy
}

/** How somebody reads a report; the report's own is how it stands in the archive. */
export interface Reader {
  /** BCP 47. */
  readonly locale: string
  /** Of a report also that of its days. */
  readonly timeZone: string
  readonly filter: LeadFilter
  readonly blocks: readonly BlockName[]
  /** `charts`, or such as `stalled.xlsx`. */
  readonly attachments: readonly string[]
}

export interface Recipient extends Reader {
  readonly address: string
  /** Who that is; null where it is not known. */
  readonly name: string | null
}

/** What of the leads of a report a reader has: empty for all of them, else the filter as JSON. */
export function variantOf(report: Pick<Report, 'filter'>, { filter }: Pick<Reader, 'filter'>): string {
  const [all, asked] = [report.filter, filter].map((each) => JSON.stringify(each))
  return asked === undefined || asked === all ? '' : asked
}

/**
 * What can be wrong with a report only once its folder is known, so that it is told before anything is made.
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
