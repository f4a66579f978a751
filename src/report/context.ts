/** The things that a report is made for, beside its figures: the recipient's choices, and what goes with the mail. */
import type { FailedSection } from '../domain/figures.ts'
import type { Instant } from '../model.ts'

/** A chart where the page finds it: `cid:…` in a mail, a path in the archive. */
export interface ChartSource {
  readonly light: string
  /** Null where one picture serves both schemes. */
  readonly dark: string | null
  readonly width: number
  readonly height: number
}

/** A message of an issue that is sent once more. */
export interface Resend {
  readonly at: Instant
  /** When the first one was made. */
  readonly first: Instant
  /** Why, in the operator's words; null where none are given. */
  readonly reason: string | null
}

export type ChartName = 'trend' | 'spark-new-leads' | 'spark-won' | 'spark-win-rate' | 'spark-open-value'

export interface BlockContext {
  /** The name of the report, such as `Daily leads`; it begins the subject. */
  readonly title: string
  /** The address it goes to; null for the archive. */
  readonly recipient: string | null
  /** `https://crm.example.com/leads/{id}`; null for no links. */
  readonly leadUrl: string | null
  /** The issues of the report in the dashboard, where it is reached from outside; null where it is not. */
  readonly moreUrl: string | null
  readonly charts: ReadonlyMap<ChartName, ChartSource>
  /** The files that hold lists whole, by the names of their blocks, and those of queries by their names. */
  readonly attached: ReadonlyMap<string, string>
  /** Files that would have made the mail too large, with their size. */
  readonly leftOut: readonly { readonly name: string; readonly megabytes: number }[]
  /** Wanted files of which the figures failed, as they were asked for: `stalled.xlsx`. */
  readonly notMade: readonly string[]
  /** Charts that could not be drawn, by the block that would show them. */
  readonly failed: readonly FailedSection[]
  /** Set when this recipient has had a message of the issue before; null for the first one. */
  readonly resend: Resend | null
  /** The mailto: or https: address at which the recipient can unsubscribe; null where there is none. */
  readonly unsubscribe: string | null
}
