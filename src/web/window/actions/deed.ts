/** What something that operators can do is given, and gives back. */

import type { DeliverDeps } from '../../../jobs/outbox/send-batch.ts'
import type { MailingDeps } from '../../../jobs/reports/enqueue-report.ts'
import type { Recipient, Report } from '../../../jobs/reports/report-definition.ts'
import type { Schedule } from '../../../jobs/schedule/schedule.ts'
import type { Form } from '../../form.ts'

export interface DeedDeps {
  readonly work: MailingDeps & Pick<DeliverDeps, 'transport' | 'log'>
  readonly schedules: readonly Schedule[]
  /** Of the settings. */
  readonly reports: readonly ListedReport[]
  /** Addresses of those who are told of troubles. */
  readonly operators: readonly string[]
  /** Has the daemon look after what is due now. */
  readonly poke: () => void
  /** Aborted when the daemon stops. */
  readonly signal: AbortSignal
}

export interface ListedReport {
  readonly report: Report
  readonly recipients: readonly Recipient[]
}

/** Done, as a sentence; or what has to be asked first, as a page. */
export type Outcome = { readonly done: string } | { readonly ask: Question }

export type Question =
  | { readonly page: 'ask-test'; readonly title: string; readonly view: TestQuestion }
  | { readonly page: 'ask-pause'; readonly title: string; readonly view: PauseQuestion }
  | { readonly page: 'ask-resend'; readonly title: string; readonly view: ResendQuestion }

export interface TestQuestion {
  readonly report: string
  readonly addresses: readonly { readonly address: string; readonly who: string }[]
}

export interface PauseQuestion {
  readonly report: string
  readonly address: string
}

export interface ResendQuestion {
  readonly report: string
  readonly to: string
  readonly rows: readonly ResendRow[]
  /** Whether somebody gets a new mail, in which a reason can stand. */
  readonly isAnyNew: boolean
}

export interface ResendRow {
  readonly recipient: string
  readonly period: string
  readonly state: string
  readonly gets: string
}

/** @throws LeadsheetError for what is wrong, as the command line does */
export type Deed = (deps: DeedDeps, form: Form) => Promise<Outcome>
