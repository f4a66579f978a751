/** What operators can do from the window: each by the job that the command line does it by. */
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { acknowledge } from '../../../jobs/acknowledge.ts'
import { factsOf } from '../../../jobs/notice-reasons.ts'
import { changeSubscription } from '../../../jobs/recipients/change-preference.ts'
import { release } from '../../../jobs/schedule/approve-run.ts'
import { askSync } from '../../../jobs/sync/ask-sync.ts'
import type { Wish } from '../../../report/subscription-page.ts'
import { findSubscription } from '../../../store/reports/preference.ts'
import type { Form } from '../../form.ts'
import type { ACTIONS } from '../buttons.ts'
import type { Deed, DeedDeps, ListedReport, Outcome } from './deed.ts'
import { resend } from './resend.ts'
import { sendTest } from './send-test.ts'

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
