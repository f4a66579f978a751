/** A test of a report, to somebody of the settings: a free address would make the window a way to mail anybody. */
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { sendTestReport } from '../../../jobs/reports/test-report.ts'
import type { Form } from '../../form.ts'
import type { DeedDeps, ListedReport, Outcome, TestQuestion } from './deed.ts'

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
