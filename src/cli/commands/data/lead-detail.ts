/**
 * `leadsheet leads show`: shows one lead with its details (enrichment), versions and activity, from the local
 * copy or from the upstream.
 */

import { stringify } from 'yaml'
import { openDataToRead } from '../../../app/installation.ts'
import type { WireActivity, WireLeadDetail } from '../../../contract/lead.ts'
import type { Lead, QuarantinedRecord } from '../../../domain/model.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { type LocalVersion, readLocalLead } from '../../../store/leads/detail.ts'
import { isQuarantined } from '../../../upstream/mapping/lead-mapping.ts'
import type { Source } from '../../../upstream/source.ts'
import { parseJson } from '../../../upstream/values/json.ts'
import { type Column, formatInstant, formatMoney, plainText } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

type Activity = Pick<WireActivity, 'at'> & {
  readonly [Key in 'type' | 'from_status' | 'to_status' | 'agent_id' | 'summary']: string | null
}

const ACTIVITY: readonly Column<Activity>[] = [
  { title: 'AT', value: ({ at }) => formatInstant(at), isWhole: true },
  { title: 'EVENT', value: ({ type }) => type?.replaceAll('_', ' ') },
  {
    title: 'CHANGE',
    value: ({ from_status: from, to_status: to }) => (from || to) && `${from ?? ''} → ${to ?? ''}`.trim(),
  },
  { title: 'AGENT', value: ({ agent_id }) => agent_id },
  { title: 'SUMMARY', value: ({ summary }) => summary },
]

/** @throws LeadsheetError usage_invalid if the local copy has no lead with this id */
export async function showLocalLead(terminal: Terminal, id: string): Promise<void> {
  await using store = await openDataToRead(await terminal.dataConfig())
  const found = await readLocalLead(store.db, id)
  if (found === undefined) {
    throw new LeadsheetError('usage_invalid', `There is no lead ${JSON.stringify(id)} in the local copy`, {
      hint: `${shellCommand('leads list')} lists the leads; ${shellCommand(`leads show ${id} --remote`)} asks the upstream.`,
    })
  }
  const { lead, versions, activity } = found
  const enrichment = found.enrichment === null ? null : parseJson(found.enrichment)
  if (terminal.json) return terminal.printJson({ ...lead, enrichment, versions, activity })
  await terminal.printFields({
    Lead: lead.id,
    Company: lead.company_name,
    Domain: lead.company_domain,
    Industry: lead.company_industry,
    Employees: lead.company_employees,
    Place: joined(', ', lead.company_city, lead.company_region, lead.company_country),
    Contact: joined(', ', lead.contact_name, lead.contact_title, lead.contact_email),
    Status: lead.status,
    Score: lead.score,
    Value: formatMoney(lead.value_amount, lead.value_currency),
    Pipeline: lead.pipeline_id,
    Agent: lead.agent_id,
    Source: lead.source,
    Created: formatInstant(lead.created_at),
    Updated: formatInstant(lead.updated_at),
    Deleted: formatInstant(lead.deleted_at),
  })
  if (enrichment !== null) {
    terminal.print('', terminal.style('bold', 'ENRICHMENT'), plainText(stringify(enrichment)).trimEnd())
  }
  if (versions.length > 0) {
    terminal.print('')
    await terminal.printTable(VERSIONS, versions)
  }
  if (activity.length > 0) {
    terminal.print('')
    await terminal.printTable(ACTIVITY, activity)
  }
}

const VERSIONS: readonly Column<LocalVersion>[] = [
  { title: 'FROM', value: (version) => formatInstant(version.valid_from), isWhole: true },
  { title: 'TO', value: (version) => formatInstant(version.valid_to) ?? 'now', isWhole: true },
  { title: 'STATUS', value: (version) => version.status, isWhole: true },
  { title: 'SCORE', value: (version) => version.score },
  { title: 'VALUE', value: (version) => formatMoney(version.value_amount, version.value_currency) },
]

export async function showRemoteLead(terminal: Terminal, source: Source, id: string): Promise<void> {
  const { raw, detail: lead } = await source.fetchLead(id, terminal.signal).catch((thrown: unknown) => {
    throw unlessUnknown(thrown, id)
  })
  if (terminal.json) {
    terminal.printJson(lead ?? raw)
    return
  }
  if (lead === null) {
    await showForeign(terminal, source.mapLead(raw))
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

/** Shows a lead of an upstream other than the reference service: the mapped fields and the record as sent. */
async function showForeign(terminal: Terminal, lead: Lead | QuarantinedRecord): Promise<void> {
  if (isQuarantined(lead)) {
    terminal.note(`this record could not be read: ${lead.reason}`)
    terminal.end('partly')
  } else {
    await terminal.printFields(mappedFields(lead))
  }
  const raw = parseJson(lead.raw)
  terminal.print('', terminal.style('bold', 'AS SENT'), plainText(stringify(raw)).trimEnd())
}

function mappedFields(lead: Lead) {
  return {
    Lead: lead.id,
    Company: lead.companyName,
    Domain: lead.companyDomain,
    Industry: lead.companyIndustry,
    Employees: lead.companyEmployees,
    Place: joined(', ', lead.companyCity, lead.companyRegion, lead.companyCountry),
    Contact: joined(', ', lead.contactName, lead.contactTitle, lead.contactEmail),
    Status: lead.status,
    Score: lead.score,
    Value: formatMoney(lead.valueAmount, lead.valueCurrency),
    Pipeline: lead.pipelineId,
    Agent: lead.agentId,
    Source: lead.source,
    Tags: lead.tags.join(', '),
    Created: formatInstant(lead.createdAt),
    Updated: formatInstant(lead.updatedAt),
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

/**
 * Replaces the hint of a 404 error by a hint about the lead's id. A wrong id is more likely than a wrong
 * address, because a wrong address fails in every command.
 */
function unlessUnknown(thrown: unknown, id: string): unknown {
  if (!(thrown instanceof LeadsheetError) || thrown.code !== 'api_not_found') return thrown
  return new LeadsheetError('api_not_found', thrown.message, {
    hint: `Check the id ${id}: ${shellCommand('leads list --remote --json')} lists the ids.`,
    cause: thrown,
  })
}
