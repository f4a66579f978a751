/** The page of a lead: its fields as they are now, its former states and its activity. Reports link to it. */
import { LeadsheetError } from '../../errors.ts'
import { oneLine, oneLineOrNull, upperFirst } from '../../report/words/clean-text.ts'
import { createLocaleContext, type LocaleContext, nameStatus } from '../../report/words/locale-context.ts'
import { type LocalLead, readLocalLead } from '../../store/leads/local-lead.ts'
import { clockOf, LOCALE } from '../server/format.ts'
import { type DashboardDeps, frameOf } from '../server/frame.ts'
import { type AddRoutes, sendPage } from '../server/server.ts'

type Route = { readonly Params: { readonly id: string } }

const NAME_LENGTH = 80
const TEXT_LENGTH = 500

/** Returns the address of the page of a lead, with `{id}` in the place of the lead's id. */
export function leadPageUrl(publicUrl: string): string {
  return `${publicUrl}/leads/{id}`
}

export function leadRoutes({ store, pages, now, timeZone }: DashboardDeps): AddRoutes {
  const page = pages.page('lead')
  return (app) => {
    app.get<Route>('/leads/:id', async (request, reply) => {
      const found = await readLocalLead(store.db, request.params.id)
      if (found === undefined) {
        throw new LeadsheetError('report_not_kept', 'There is no such lead', {
          hint: 'The local copy has no lead with the id in this address.',
        })
      }
      const clock = clockOf(timeZone, now())
      const locale = createLocaleContext(LOCALE, timeZone, clock.now.toISOString())
      const title = oneLine(found.lead.company_name ?? found.lead.id, NAME_LENGTH)
      return sendPage(reply, page(composeLead(found, locale), frameOf(request, title, null), clock))
    })
  }
}

function composeLead({ lead, versions, activity }: LocalLead, locale: LocaleContext) {
  const moneyOf = (amount: number | null, currency: string | null) =>
    amount === null ? '' : locale.numbers.money({ amount, currency: currency ?? '' })
  const joined = (...parts: readonly (string | null)[]) =>
    oneLine(parts.filter((part) => part).join(', '), TEXT_LENGTH)
  return {
    stage: nameStatus(lead.status, locale),
    isDeleted: lead.deleted_at !== null,
    facts: [
      { name: 'Value', text: moneyOf(lead.value_amount, lead.value_currency) },
      { name: 'Owner', text: joined(lead.owner) },
      { name: 'Score', text: lead.score === null ? '' : locale.numbers.decimal(lead.score, 1) },
      { name: 'Contact', text: joined(lead.contact_name, lead.contact_title, lead.contact_email) },
      { name: 'Website', text: joined(lead.company_domain) },
      { name: 'Place', text: joined(lead.company_city, lead.company_region, lead.company_country) },
      { name: 'About', text: joined(lead.company_one_liner) },
      { name: 'Pipeline', text: joined(lead.pipeline_id) },
      { name: 'Source', text: joined(lead.source) },
      { name: 'ID', text: joined(lead.id) },
    ].filter(({ text }) => text !== ''),
    times: [
      { name: 'Expected close', at: lead.expected_close_at },
      { name: 'Created', at: lead.created_at },
      { name: 'Last change', at: lead.updated_at },
      { name: 'Deleted', at: lead.deleted_at },
    ].filter(({ at }) => at !== null),
    states: versions.toReversed().map((version) => ({
      from: version.valid_from,
      stage: nameStatus(version.status, locale),
      score: version.score,
      value: moneyOf(version.value_amount, version.value_currency),
    })),
    activity: activity.toReversed().map(({ at, type, summary }) => ({
      at,
      type: upperFirst(oneLine((type ?? '').replaceAll('_', ' '), NAME_LENGTH)),
      summary: oneLineOrNull(summary, TEXT_LENGTH) ?? '',
    })),
  }
}
