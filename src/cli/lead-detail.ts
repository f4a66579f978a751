/** `leadsheet leads show`: one lead, what was found out about its company, and what happened to it. */
import { stringify } from 'yaml'
import type { WireActivity, WireLeadDetail } from '../contract/lead.ts'
import type { Source } from '../source/open.ts'
import { type Column, formatInstant, formatMoney } from './table.ts'
import type { Terminal } from './terminal.ts'

const ACTIVITY: readonly Column<WireActivity>[] = [
  { title: 'AT', value: ({ at }) => formatInstant(at), isWhole: true },
  { title: 'EVENT', value: ({ type }) => type.replaceAll('_', ' ') },
  {
    title: 'CHANGE',
    value: ({ from_status: from, to_status: to }) => (from || to) && `${from ?? ''} → ${to ?? ''}`.trim(),
  },
  { title: 'AGENT', value: ({ agent_id }) => agent_id },
  { title: 'SUMMARY', value: ({ summary }) => summary },
]

export async function showLead(terminal: Terminal, source: Source, id: string): Promise<void> {
  const lead = await source.fetchLead(id, terminal.signal)
  if (terminal.json) {
    terminal.printJson(lead)
    return
  }
  await terminal.printFields(fieldsOf(lead))
  if (lead.enrichment !== null) {
    terminal.print('', terminal.style('bold', 'ENRICHMENT'), stringify(lead.enrichment).trimEnd())
  }
  if (lead.activity.length > 0) {
    terminal.print('')
    await terminal.printTable(ACTIVITY, lead.activity)
  }
}

function fieldsOf({ company, contact, value, ...lead }: WireLeadDetail) {
  return {
    Lead: lead.id,
    Company: company.name,
    '': company.one_liner,
    Domain: company.domain,
    Industry: joined(' / ', company.industry, company.subindustry),
    Employees: company.employees,
    Place: joined(', ', company.city, company.region, company.country),
    Contact: contact && joined(', ', contact.name, contact.title, contact.email),
    Status: `${lead.status} since ${formatInstant(lead.status_changed_at)}`,
    Score: lead.score,
    Value: value && formatMoney(value.amount, value.currency),
    Pipeline: lead.pipeline_id,
    Agent: lead.agent_id,
    Source: lead.source,
    Tags: lead.tags.join(', '),
    Created: formatInstant(lead.created_at),
    Updated: formatInstant(lead.updated_at),
  }
}

function joined(separator: string, ...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part).join(separator)
}
