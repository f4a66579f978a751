/** What a report is made for, beside its figures: its reader's wishes, and what goes with the mail. */
import type { ATTACHED_LISTS, BlockName } from '../choices.ts'

export type ListName = (typeof ATTACHED_LISTS)[number]

/** A chart where the page finds it: `cid:…` in a mail, a path in the archive. */
export interface ChartSource {
  readonly light: string
  /** Null where one picture serves both schemes. */
  readonly dark: string | null
  readonly width: number
  readonly height: number
}

export type ChartName = 'trend' | 'spark-new-leads' | 'spark-won' | 'spark-win-rate' | 'spark-open-value'

export interface ReportContext {
  /** What the report is called, such as `Daily leads`; begins the subject. */
  readonly title: string
  /** The address it goes to; null for the archive. */
  readonly recipient: string | null
  /** In order; those that the figures have nothing for say so. */
  readonly blocks: readonly BlockName[]
  /** `https://crm.example.com/leads/{id}`; null for no links. */
  readonly leadUrl: string | null
  readonly charts: ReadonlyMap<ChartName, ChartSource>
  /** The files that hold lists whole, by {@link ListName}, and those of queries by their names. */
  readonly attached: ReadonlyMap<string, string>
  /** Files that would have made the mail too large, with their size. */
  readonly leftOut: readonly { readonly name: string; readonly megabytes: number }[]
  /** Where one can stop getting it, a mailto: or https: address; null for nowhere. */
  readonly unsubscribe: string | null
}
