/** Composes a profile from the findings. */

import type { ProfileInput, TimeFilter } from '../upstream/profile/profile.ts'
import { pathText, splitPath } from '../upstream/values/field-path.ts'
import type { Asker } from './ask.ts'
import { type FoundField, findStages } from './field-probe.ts'
import { endpointPath } from './list-probe.ts'
import type { Beside } from './other-endpoints.ts'
import type { FoundPaging } from './paging-found.ts'
import type { List, Params } from './probed-page.ts'

export interface Found {
  readonly asker: Asker
  readonly base: URL
  readonly list: List
  readonly paging: FoundPaging
  readonly fields: readonly FoundField[]
  readonly since: TimeFilter | null
  readonly sort: Readonly<Record<string, string>>
  readonly beside: Beside
}

/** Composes a profile without its defaults, so that it shows only what was found. */
export function draftProfile({
  asker,
  base,
  list,
  paging,
  fields,
  since,
  sort,
  beside,
}: Found): ProfileInput {
  const status = fields.find(({ field }) => field === 'status')?.rule
  const stages = typeof status === 'string' ? findStages(paging.records, splitPath(status)) : []
  return {
    name: base.hostname,
    endpoints: { leads: leadsPath(base, list, paging.along), ...beside.endpoints },
    auth: authInput(asker),
    ...(paging.input === null ? {} : { paging: paging.input }),
    envelope: { leads: pathText(paging.largest.envelope), ...beside.envelope },
    ...(since === null ? {} : { filters: { updated_since: sinceInput(since) } }),
    ...(Object.keys(sort).length === 0 ? {} : { sort: { ...sort } }),
    mapping: {
      lead: { id: pathText(list.id), ...Object.fromEntries(fields.map(({ field, rule }) => [field, rule])) },
      ...(Object.keys(beside.stat).length === 0 ? {} : { stat: beside.stat }),
      ...(Object.keys(beside.agent).length === 0 ? {} : { agent: beside.agent }),
    },
    ...(stages.length === 0 ? {} : { stages }),
  } as ProfileInput
}

function authInput({ auth, headers }: Asker): ProfileInput['auth'] {
  const further = Object.keys(headers).length === 0 ? {} : { headers: { ...headers } }
  if (auth === 'none') return 'headers' in further ? { value: '', ...further } : auth
  const { header, value, query } = auth
  return query === undefined ? { header, value, ...further } : { query, ...further }
}

function sinceInput({ param, format, value, in: where }: TimeFilter) {
  return {
    param,
    format,
    ...(value === '{value}' ? {} : { value }),
    ...(where === 'query' ? {} : { in: where }),
  }
}

/** Returns the path of the list with the parameters that every request needs. */
function leadsPath(base: URL, list: List, along: Params): string {
  const url = new URL(list.url)
  for (const [name, value] of Object.entries(along)) url.searchParams.set(name, value)
  return endpointPath(base, url)
}
