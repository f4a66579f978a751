/** Letters of the last edition sent again; where somebody has one, they are listed first, and a person decides. */
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import {
  enqueueResend,
  planResend,
  type ResendChoice,
  type ResendPlan,
} from '../../../jobs/reports/resend.ts'
import { tellDates } from '../../../report/period.ts'
import type { Form } from '../../form.ts'
import type { DeedDeps, ListedReport, Outcome, ResendRow } from './deed.ts'

/** `to` of the form: an address, or this for all whose letter was refused or given up. */
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
  const mayHaveIt = anew.length > 0 || again.some(({ letter }) => letter.state === 'in_doubt')
  if (mayHaveIt && form.get('confirmed') !== 'yes') {
    const view = { report: report.name, to, rows: rowsOf(plan), isAnyNew: anew.length > 0 }
    return { ask: { page: 'ask-resend', title: 'Send it again?', view } }
  }
  const reason = form.get('reason')?.trim().slice(0, REASON_MAX) ?? ''
  const queued = await enqueueResend(work, report, plan, reason === '' ? null : reason)
  poke()
  const mails = queued.size === 1 ? '1 mail' : `${queued.size} mails`
  return { done: `${mails} of ${report.name} on the way: the ledger of letters tells how each fares.` }
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
    ({ edition, letter }: ResendPlan['again'][number]): ResendRow => ({
      recipient: letter.recipient,
      period: tellDates(edition.period),
      state: letter.state in STATES ? STATES[letter.state as keyof typeof STATES] : 'has not got it',
      gets,
    })
  return [...again.map(row('the same mail')), ...anew.map(row('a new mail that says so'))]
}
