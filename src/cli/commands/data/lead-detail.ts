/**
 * `leadsheet leads show`: shows one lead with its details (enrichment), versions and activity, from the local
 * copy or from the upstream.
 */

import { stringify } from 'yaml'
import { openDataToRead } from '../../../app/installation.ts'
import type { WireActivity } from '../../../contract/lead.ts'
import type { Instant, Lead } from '../../../domain/model.ts'
import { inSnakeCase, type SnakeCase } from '../../../domain/names.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { readFieldsByName } from '../../../store/leads/declared-fields.ts'
import { type LocalLead, readLocalLead } from '../../../store/leads/local-lead.ts'
import { isQuarantined } from '../../../upstream/mapping/lead-mapping.ts'
import type { Source } from '../../../upstream/source.ts'
import { parseJson } from '../../../upstream/values/json.ts'
import {
  type Column,
  fields,
  formatInstant,
  formatMoney,
  type Paragraph,
  plainText,
  table,
} from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

type Activity = Pick<WireActivity, 'at'> & {
  readonly [Key in 'type' | 'from_status' | 'to_status' | 'agent_id' | 'summary']: string | null
}

const ACTIVITY: readonly Column<Activity>[] = [
  { title: 'AT', value: ({ at }) => formatInstant(at) },
  { title: 'EVENT', value: ({ type }) => type?.replaceAll('_', ' ') },
  {
    title: 'CHANGE',
    value: ({ from_status: from, to_status: to }) => (from || to) && `${from ?? ''} → ${to ?? ''}`.trim(),
  },
  { title: 'AGENT', value: ({ agent_id }) => agent_id },
  { title: 'SUMMARY', value: ({ summary }) => summary },
]

/** @throws LeadsheetError usage_invalid if the local copy has no lead with this id */
export async function findLocalLead(terminal: Terminal, id: string): Promise<Result> {
  await using store = await openDataToRead(await terminal.dataConfig())
  const found = await readLocalLead(store.db, id)
  if (found === undefined) {
    throw new LeadsheetError('usage_invalid', `There is no lead ${JSON.stringify(id)} in the local copy`, {
      hint: `${shellCommand('leads list')} lists the leads; ${shellCommand(`leads show ${id} --remote`)} asks the upstream.`,
    })
  }
  const { lead, versions, activity } = found
  const declared = (await readFieldsByName(store.db, [id])).get(id)
  const enrichment = found.enrichment === null ? null : parseJson(found.enrichment)
  return {
    data: { ...lead, ...(declared && { fields: declared }), enrichment, versions, activity },
    text: [
      leadFields(lead, JSON.parse(lead.tags)),
      fields(declared ?? {}),
      yamlText(terminal, 'ENRICHMENT', enrichment),
      table(versions, VERSIONS),
      table(activity, ACTIVITY),
    ],
  }
}

/** Shows a value as YAML below a heading; null shows nothing. */
function yamlText({ style }: Terminal, heading: string, value: unknown): string {
  return value === null ? '' : `${style('bold', heading)}\n${plainText(stringify(value)).trimEnd()}`
}

const VERSIONS: readonly Column<LocalLead['versions'][number]>[] = [
  { title: 'FROM', value: (version) => formatInstant(version.valid_from) },
  { title: 'TO', value: (version) => formatInstant(version.valid_to) ?? 'now' },
  { title: 'STATUS', value: (version) => version.status },
  { title: 'SCORE', value: (version) => version.score },
  { title: 'VALUE', value: (version) => formatMoney(version.value_amount, version.value_currency) },
]

export async function fetchRemoteLead(terminal: Terminal, source: Source, id: string): Promise<Result> {
  const { raw, detail } = await source.fetchLead(id, terminal.signal).catch((thrown: unknown) => {
    throw unlessUnknown(thrown, id)
  })
  const mapped = source.mapLead(raw)
  if (isQuarantined(mapped)) terminal.end('partly')
  return {
    data: detail ?? raw,
    text: [
      isQuarantined(mapped) ? '' : leadFields(inSnakeCase(mapped), mapped.tags),
      // The format of the details is known only of the reference service.
      ...(detail === null
        ? [yamlText(terminal, 'AS SENT', parseJson(mapped.raw))]
        : [yamlText(terminal, 'ENRICHMENT', detail.enrichment), table(detail.activity, ACTIVITY)]),
    ],
    notes: isQuarantined(mapped) ? [`this record could not be read: ${mapped.reason}`] : [],
  }
}

type LeadColumns = SnakeCase<Omit<Lead, 'raw' | 'cleaned' | 'cut' | 'unsure' | 'tags' | 'fields'>>

function leadFields(
  lead: LeadColumns & { readonly deleted_at?: Instant | null },
  tags: readonly string[],
): Paragraph {
  const joined = (...parts: readonly (string | null)[]) => parts.filter((part) => part).join(', ')
  return fields({
    Lead: lead.id,
    Company: lead.company_name,
    Domain: lead.company_domain,
    Industry: lead.company_industry,
    Employees: lead.company_employees,
    Place: joined(lead.company_city, lead.company_region, lead.company_country),
    Contact: joined(lead.contact_name, lead.contact_title, lead.contact_email),
    Status: lead.status,
    Score: lead.score,
    Value: formatMoney(lead.value_amount, lead.value_currency),
    Pipeline: lead.pipeline_id,
    Owner: lead.owner,
    'Expected close': formatInstant(lead.expected_close_at),
    Agent: lead.agent_id,
    Source: lead.source,
    Tags: tags.join(', '),
    Created: formatInstant(lead.created_at),
    Updated: formatInstant(lead.updated_at),
    Deleted: formatInstant(lead.deleted_at ?? null),
  })
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
