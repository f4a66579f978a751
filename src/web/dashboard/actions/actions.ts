/** What operators can do from the dashboard: each by the job that the command line does it by. */

import { tellDates } from '../../../domain/period.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { acknowledge } from '../../../jobs/acknowledge.ts'
import { factsOf } from '../../../jobs/notice-reasons.ts'
import type { DeliverDeps } from '../../../jobs/outbox/send-batch.ts'
import { changeSubscription } from '../../../jobs/recipients/change-preference.ts'
import type { MailingDeps } from '../../../jobs/reports/enqueue-report.ts'
import type { Recipient, Report } from '../../../jobs/reports/report-definition.ts'
import type { ResendChoice, ResendPlan } from '../../../jobs/reports/resend.ts'
import { enqueueResend, planResend } from '../../../jobs/reports/resend.ts'
import { sendTestReport } from '../../../jobs/reports/test-report.ts'
import { release } from '../../../jobs/schedule/approve-run.ts'
import type { Schedule } from '../../../jobs/schedule/schedule.ts'
import { askSync } from '../../../jobs/sync/ask-sync.ts'
import type { Wish } from '../../../report/preferences/page.ts'
import { findSubscription } from '../../../store/reports/preference.ts'
import type { Form } from '../../server/server.ts'
import type { ACTIONS } from './buttons.ts'

/* What something that operators can do is given, and gives back. */

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

/* Messages of the last issue sent again; where somebody has one, they are listed first, and a person decides. */

/** `to` of the form: an address, or this for all whose message was refused or given up. */
const FAILED = 'failed'
const REASON_MAX = 300

/** @throws LeadsheetError usage_invalid where there is nothing to send; job_busy, report_template, report_failed */
export async function resend(
  { work, poke }: DeedDeps,
  { report, recipients }: ListedReport,
  form: Form,
): Promise<Outcome> {
  const to = form.get('to') ?? ''
  const choice: ResendChoice = to === FAILED ? { which: 'failed' } : { which: 'one', address: to }
  const plan = await planResend(work, report, recipients, choice, work.now())
  const { again, anew } = plan
  if (again.length + anew.length === 0) throw nothingToSend(plan)
  const mayHaveIt = anew.length > 0 || again.some(({ message }) => message.state === 'in_doubt')
  if (mayHaveIt && form.get('confirmed') !== 'yes') {
    const view = { report: report.name, to, rows: rowsOf(plan), isAnyNew: anew.length > 0 }
    return { ask: { page: 'ask-resend', title: 'Send it again?', view } }
  }
  const reason = form.get('reason')?.trim().slice(0, REASON_MAX) ?? ''
  const queued = await enqueueResend(work, report, plan, reason === '' ? null : reason)
  poke()
  const mails = queued.size === 1 ? '1 mail' : `${queued.size} mails`
  return { done: `${mails} of ${report.name} on the way: the ledger of messages tells how each fares.` }
}

function nothingToSend({ leftOut }: ResendPlan): LeadsheetError {
  const why = leftOut.map(({ recipient, why }) => `${recipient}: ${why}`).join('; ')
  const what = why === '' ? 'there is no such mail to send again' : why
  return new LeadsheetError('usage_invalid', `Nothing was sent: ${what}`, {
    hint: `${shellCommand('deliveries')} shows how each stands.`,
  })
}

const STATES = { sent: 'has it', in_doubt: 'may have it' } as const

function rowsOf({ again, anew }: ResendPlan): ResendRow[] {
  const row =
    (gets: string) =>
    ({ issue, message }: ResendPlan['again'][number]): ResendRow => ({
      recipient: message.recipient,
      period: tellDates(issue.period),
      state: message.state in STATES ? STATES[message.state as keyof typeof STATES] : 'has not got it',
      gets,
    })
  return [...again.map(row('the same mail')), ...anew.map(row('a new mail that says so'))]
}

export const DEEDS: Readonly<Record<keyof typeof ACTIONS, Deed>> = {
  sync: async ({ work, schedules, poke }, form) => {
    const isFull = form.get('full') === 'yes'
    const schedule = schedules.find(({ name }) => name === (isFull ? 'sync-full' : 'sync'))
    if (schedule === undefined) throw new Error('the daemon has no schedule of syncs')
    await askSync(work.store, schedule, work.now)
    poke()
    return {
      done: isFull ? 'Everything is being read again.' : 'A sync has been asked for. It begins at once.',
    }
  },

  acknowledge: async ({ work }, form) => {
    const { reason } = await acknowledge(work.store, noticeIn(form), work.now())
    return { done: `${factsOf(reason).title}: there are no more reminders of it.` }
  },

  release: async (deps, form) => {
    const { report } = findReport(deps, form)
    await release(deps.work.store, `report:${report.name}`, deps.work.now())
    deps.poke()
    return { done: `The report ${report.name} is let go. It is made at once.` }
  },

  pause: (deps, form) => wish(deps, form, 'pause'),
  resume: (deps, form) => wish(deps, form, 'start'),
  resend: (deps, form) => resend(deps, findReport(deps, form), form),
  test: (deps, form) => sendTest(deps, findReport(deps, form), form),
}

/** @throws LeadsheetError usage_invalid */
function noticeIn(form: Form): number {
  const given = form.get('notice') ?? ''
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw new LeadsheetError(
    'usage_invalid',
    `notice: found ${JSON.stringify(given)}, expected the number of a trouble`,
    {
      hint: `${shellCommand('notices')} lists them.`,
    },
  )
}

/** @throws LeadsheetError report_unknown */
function findReport({ reports }: DeedDeps, form: Form): ListedReport {
  const name = form.get('report') ?? ''
  const found = reports.find(({ report }) => report.name === name)
  if (found) return found
  throw new LeadsheetError('report_unknown', `There is no report named ${JSON.stringify(name)}`, {
    hint: `Reports in the settings: ${reports.map(({ report }) => report.name).join(', ')}.`,
  })
}

async function wish(deps: DeedDeps, form: Form, wished: Wish & ('pause' | 'start')): Promise<Outcome> {
  const { store, now } = deps.work
  const { report, recipients } = findReport(deps, form)
  const address = form.get('address') ?? ''
  const key = { address, report: report.name }
  const isListed = recipients.some((one) => one.address.toLowerCase() === address.toLowerCase())
  // Who is in the settings no more may still have a wish of their own, which outlives that.
  if (!isListed && (await findSubscription(store.db, key)) === undefined) {
    throw new LeadsheetError('usage_invalid', `${address} is no recipient of the report ${report.name}`, {
      hint: `${shellCommand('recipients')} lists who gets what.`,
    })
  }
  // Only the button of a page asks first; machines say what they mean.
  if (form.get('ask') === 'yes') {
    const title = `Pause ${report.name} for ${address}?`
    return { ask: { page: 'ask-pause', title, view: { report: report.name, address } } }
  }
  const by = { by: 'operator', reason: null } as const
  const { isFit, withdrawn } = await changeSubscription(store, key, wished, by, now())
  if (!isFit)
    return { done: `${address} has unsubscribed from ${report.name} themselves; nothing was changed.` }
  if (wished === 'start') return { done: `${address} gets ${report.name} again.` }
  const mails = withdrawn === 1 ? '1 mail that waited is' : `${withdrawn} mails that waited are`
  const taken = withdrawn === 0 ? '' : ` ${mails} withdrawn.`
  return { done: `${address} gets ${report.name} no more until they are resumed.${taken}` }
}

/* A test of a report, to somebody of the settings: a free address would make the dashboard a way to mail anybody. */

/** Whoever waits for the page is answered before what stands before us gives up. */
const WAIT_MS = 45_000

/** @throws LeadsheetError usage_invalid for an address that the settings do not name; what sending it throws */
export async function sendTest(
  deps: DeedDeps,
  { report, recipients }: ListedReport,
  form: Form,
): Promise<Outcome> {
  const addresses = addressesOf(deps, recipients)
  const to = form.get('to')
  if (to === undefined) {
    const view = { report: report.name, addresses }
    return { ask: { page: 'ask-test', title: `Send a test of ${report.name}`, view } }
  }
  if (!addresses.some(({ address }) => address === to)) {
    throw new LeadsheetError(
      'usage_invalid',
      `${to} is neither an operator nor a recipient of ${report.name}`,
      {
        hint: `${shellCommand('report NAME --test-to ADDRESS')} sends a test anywhere.`,
      },
    )
  }
  const signal = AbortSignal.any([deps.signal, AbortSignal.timeout(WAIT_MS)])
  const said = await sendTestReport(deps.work, report, recipients, to, signal)
  return { done: `A test of ${report.name} was sent to ${to}: ${said}` }
}

function addressesOf(
  { operators }: DeedDeps,
  recipients: ListedReport['recipients'],
): TestQuestion['addresses'] {
  const isOperator = (address: string) => operators.some((one) => one.toLowerCase() === address.toLowerCase())
  return [
    ...operators.map((address) => ({ address, who: 'operator' })),
    ...recipients
      .filter(({ address }) => !isOperator(address))
      .map(({ address, name }) => ({ address, who: name === null ? 'recipient' : `recipient, ${name}` })),
  ]
}
