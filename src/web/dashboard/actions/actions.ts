/** Defines the actions of operators, each of which calls the same job as its command. */

import { alertFacts } from '../../../checks/run-checks.ts'
import { formatDates } from '../../../domain/period.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { acknowledgeAlert } from '../../../jobs/alerts/run.ts'
import { annotate, removeAnnotation } from '../../../jobs/annotations.ts'
import type { DeliverDeps } from '../../../jobs/outbox/send-batch.ts'
import type { ReportDeps } from '../../../jobs/reports/enqueue-report.ts'
import { changePreference } from '../../../jobs/reports/preferences.ts'
import { sendTestReport } from '../../../jobs/reports/preview.ts'
import type { Recipient, Report } from '../../../jobs/reports/report-definition.ts'
import {
  enqueueResend,
  planResend,
  type ResendChoice,
  type ResendPlan,
} from '../../../jobs/reports/resend.ts'
import type { Schedule } from '../../../jobs/schedule/schedule.ts'
import { approveRun } from '../../../jobs/schedule/schedule-state.ts'
import { askSync } from '../../../jobs/sync/scheduled-sync.ts'
import type { PreferenceChoice } from '../../../report/preferences/page.ts'
import { findPreference } from '../../../store/reports/preference.ts'
import type { Form } from '../../server/server.ts'
import type { ACTION_PATHS } from './buttons.ts'

export interface ActionDeps {
  readonly work: ReportDeps & Pick<DeliverDeps, 'transport' | 'log'>
  readonly schedules: readonly Schedule[]
  readonly reports: readonly ListedReport[]
  readonly operators: readonly string[]
  /** Makes the daemon look for due work at once. */
  readonly wake: () => void
  readonly signal: AbortSignal
}

interface ListedReport {
  readonly report: Report
  readonly recipients: readonly Recipient[]
}

type ActionResult = { readonly done: string } | { readonly ask: Question }

/** A question, with the page that asks it and what the page shows. */
export interface Question {
  readonly page: 'ask-test' | 'ask-pause' | 'ask-resend'
  readonly title: string
  readonly view: object
}

/**
 * Runs with the fields of a form.
 * @throws LeadsheetError in the same cases as the matching command
 */
export type Action = (deps: ActionDeps, form: Form) => Promise<ActionResult>

export const ACTIONS: Readonly<Record<keyof typeof ACTION_PATHS, Action>> = {
  sync: async ({ work, schedules, wake }, form) => {
    const isFull = form.get('full') === 'yes'
    const schedule = schedules.find(({ name }) => name === (isFull ? 'sync-full' : 'sync'))
    if (schedule === undefined) throw new Error('the daemon has no schedule of syncs')
    await askSync(work.store, schedule, work.now)
    wake()
    return { done: `${isFull ? 'A full sync' : 'A sync'} has been asked for. It begins at once.` }
  },

  acknowledge: async ({ work }, form) => {
    const id = numberIn(form, 'alert', 'alerts list')
    const { checkId } = await acknowledgeAlert(work.store, id, work.now())
    return { done: `${alertFacts(checkId).title}: there are no more reminders of it.` }
  },

  approve: async (deps, form) => {
    const { report } = findReport(deps, form)
    await approveRun(deps.work.store, `report:${report.name}`, deps.work.now())
    deps.wake()
    return { done: `The report ${report.name} is approved. It is made and sent at once.` }
  },

  pause: (deps, form) => setPreference(deps, form, 'pause'),
  resume: (deps, form) => setPreference(deps, form, 'start'),
  resend: (deps, form) => resend(deps, findReport(deps, form), form),
  test: (deps, form) => sendTest(deps, findReport(deps, form), form),

  annotate: async ({ work }, form) => {
    const [first = '', last = '', pipeline = ''] = ['first', 'last', 'pipeline'].map((name) => form.get(name))
    const given = {
      days: last === '' ? first : `${first}..${last}`,
      text: form.get('text') ?? '',
      pipelineId: pipeline === '' ? null : pipeline,
      isLeftOut: form.get('effect') !== 'only_mark',
      writtenBy: 'dashboard',
    }
    const { text } = await annotate(work.store, given, work.now())
    return { done: `Noted: ${text}. Reports from now on know it.` }
  },

  removeAnnotation: async ({ work }, form) => {
    const { text } = await removeAnnotation(work.store, numberIn(form, 'annotation', 'annotate'))
    return { done: `Removed: ${text}. Its days count again.` }
  },
}

/**
 * `command` lists the numbers.
 * @throws LeadsheetError usage_invalid if the field holds no number
 */
function numberIn(form: Form, name: 'alert' | 'annotation', command: string): number {
  const given = form.get(name) ?? ''
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw new LeadsheetError(
    'usage_invalid',
    `${name}: found ${JSON.stringify(given)}, expected the number of an ${name}`,
    { hint: `${shellCommand(command)} lists them.` },
  )
}

/** @throws LeadsheetError report_unknown if the form names no known report */
function findReport({ reports }: ActionDeps, form: Form): ListedReport {
  const name = form.get('report') ?? ''
  const found = reports.find(({ report }) => report.name === name)
  if (found) return found
  throw new LeadsheetError('report_unknown', `There is no report named ${JSON.stringify(name)}`, {
    hint: `Reports in the settings: ${reports.map(({ report }) => report.name).join(', ')}.`,
  })
}

async function setPreference(
  deps: ActionDeps,
  form: Form,
  wanted: PreferenceChoice & ('pause' | 'start'),
): Promise<ActionResult> {
  const { store, now } = deps.work
  const { report, recipients } = findReport(deps, form)
  const address = form.get('address') ?? ''
  const key = { address, report: report.name }
  const isListed = recipients.some((one) => one.address.toLowerCase() === address.toLowerCase())
  // A preference can be changed even if the settings no longer list the recipient.
  if (!isListed && (await findPreference(store.db, key)) === undefined) {
    throw new LeadsheetError('usage_invalid', `${address} is no recipient of the report ${report.name}`, {
      hint: `${shellCommand('recipients')} lists who gets what.`,
    })
  }
  // A button on a page sends `ask`, so that the user is asked to confirm. A machine sends no `ask`.
  if (form.get('ask') === 'yes') {
    const title = `Pause ${report.name} for ${address}?`
    return { ask: { page: 'ask-pause', title, view: { report: report.name, address } } }
  }
  const by = { by: 'operator', reason: null } as const
  const { isFit, withdrawn } = await changePreference(store, key, wanted, by, now())
  if (!isFit)
    return { done: `${address} has unsubscribed from ${report.name} themselves; nothing was changed.` }
  if (wanted === 'start') return { done: `${address} gets ${report.name} again.` }
  const mails = withdrawn === 1 ? '1 mail that waited is' : `${withdrawn} mails that waited are`
  const taken = withdrawn === 0 ? '' : ` ${mails} withdrawn.`
  return { done: `${address} gets ${report.name} no more until they are resumed.${taken}` }
}

// The form value that stands for all recipients whose message was refused or given up.
const FAILED = 'failed'
const REASON_MAX = 300

/**
 * Sends mails of a report's last issue again. If a recipient may already have the issue, the user must
 * confirm first.
 * @throws LeadsheetError usage_invalid if there is nothing to send, job_busy while the report is being made,
 * report_template or report_failed if a new mail cannot be made
 */
async function resend(
  { work, wake }: ActionDeps,
  { report, recipients }: ListedReport,
  form: Form,
): Promise<ActionResult> {
  const to = form.get('to') ?? ''
  const choice: ResendChoice = to === FAILED ? { which: 'failed' } : { which: 'one', address: to }
  const plan = await planResend(work, report, recipients, choice, work.now())
  const { again, anew } = plan
  if (again.length + anew.length === 0) throw nothingToSend(plan)
  const mayHaveIt = anew.length > 0 || again.some(({ message }) => message.state === 'unconfirmed')
  if (mayHaveIt && form.get('confirmed') !== 'yes') {
    const view = { report: report.name, to, rows: rowsOf(plan), isAnyNew: anew.length > 0 }
    return { ask: { page: 'ask-resend', title: 'Send it again?', view } }
  }
  const reason = form.get('reason')?.trim().slice(0, REASON_MAX) ?? ''
  const queued = await enqueueResend(work, report, plan, reason === '' ? null : reason)
  wake()
  const mails = queued.size === 1 ? '1 mail' : `${queued.size} mails`
  return { done: `${mails} of ${report.name} on the way. The page of the issue shows what becomes of each.` }
}

function nothingToSend({ leftOut }: ResendPlan): LeadsheetError {
  const why = leftOut.map(({ recipient, why }) => `${recipient}: ${why}`).join('; ')
  const what = why === '' ? 'there is no such mail to send again' : why
  return new LeadsheetError('usage_invalid', `Nothing was sent: ${what}`, {
    hint: `${shellCommand('outbox list')} shows how each stands.`,
  })
}

const STATES: Readonly<Record<string, string>> = { sent: 'has it', unconfirmed: 'may have it' }

function rowsOf({ again, anew }: ResendPlan) {
  const row =
    (gets: string) =>
    ({ issue, message }: ResendPlan['again'][number]) => ({
      recipient: message.recipient,
      period: formatDates(issue.period),
      state: STATES[message.state] ?? 'has not got it',
      gets,
    })
  return [...again.map(row('the same mail')), ...anew.map(row('a new mail that says so'))]
}

// The maximum wait for the result of a test mail. Proxies wait longer than this for an answer.
const WAIT_MS = 45_000

/**
 * Sends a test mail of a report to an operator or a recipient. All other addresses are refused, because the
 * dashboard must not send mail to strangers.
 * @throws LeadsheetError usage_invalid for another address, and all errors of the sending
 */
async function sendTest(
  deps: ActionDeps,
  { report, recipients }: ListedReport,
  form: Form,
): Promise<ActionResult> {
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
        hint: `${shellCommand('report preview NAME --to ADDRESS')} sends a test anywhere.`,
      },
    )
  }
  const signal = AbortSignal.any([deps.signal, AbortSignal.timeout(WAIT_MS)])
  const { response } = await sendTestReport(deps.work, report, recipients, to, signal)
  return { done: `A test of ${report.name} was sent to ${to}: ${response}` }
}

function addressesOf({ operators }: ActionDeps, recipients: ListedReport['recipients']) {
  const isOperator = (address: string) => operators.some((one) => one.toLowerCase() === address.toLowerCase())
  return [
    ...operators.map((address) => ({ address, who: 'operator' })),
    ...recipients
      .filter(({ address }) => !isOperator(address))
      .map(({ address, name }) => ({ address, who: name === null ? 'recipient' : `recipient, ${name}` })),
  ]
}
