/** The input of a report beside its figures: the recipient's settings, charts, and attached files. */
import type { FailedSection } from '../domain/figures.ts'
import type { Instant } from '../model.ts'

/** The address of a chart: `cid:…` in a mail, a path in the archive. */
export interface ChartSource {
  readonly light: string
  /** Null if one picture serves both colour schemes. */
  readonly dark: string | null
  readonly width: number
  readonly height: number
}

/** Facts about a message that is sent again. */
export interface Resend {
  readonly at: Instant
  /** The time when the first message was made. */
  readonly first: Instant
  /** The reason in the operator's words; null if none was given. */
  readonly reason: string | null
}

export type ChartName = 'trend' | 'spark-new-leads' | 'spark-won' | 'spark-win-rate' | 'spark-open-value'

export interface BlockContext {
  /** The name of the report, such as `Daily leads`. The subject begins with this name. */
  readonly title: string
  /** The recipient's address; null for the archive. */
  readonly recipient: string | null
  /** An address such as `https://crm.example.com/leads/{id}`; null for no links. */
  readonly leadUrl: string | null
  /** The address of the report's issues in the dashboard; null if the dashboard has no public address. */
  readonly moreUrl: string | null
  readonly charts: ReadonlyMap<ChartName, ChartSource>
  /** The attached files with whole lists, by the name of their block or query. */
  readonly attached: ReadonlyMap<string, string>
  /** Files that were left out because the mail would be too large, with their size. */
  readonly leftOut: readonly { readonly name: string; readonly megabytes: number }[]
  /** Requested files whose figures failed, such as `stalled.xlsx`. */
  readonly notMade: readonly string[]
  /** Charts that could not be drawn, by the block that would show them. */
  readonly failed: readonly FailedSection[]
  /** Set if this recipient has had a message of the issue before; otherwise null. */
  readonly resend: Resend | null
  /** The mailto: or https: address to unsubscribe at; null if there is none. */
  readonly unsubscribe: string | null
}
