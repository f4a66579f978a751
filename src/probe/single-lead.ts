/** Finds the endpoint of a single lead. */
import { toText } from '../upstream/profile/field-rule.ts'
import { type FieldPath, readPath } from '../upstream/values/json.ts'
import type { Asker, List, Reply } from './ask.ts'
import { evidenceOf, finding } from './ask.ts'
import { endpointPath } from './list-probe.ts'

/** Fetches two leads by their ids. The second answer proves that the answer depends on the id. */
export async function findLead(asker: Asker, base: URL, list: List, [id, other]: readonly string[]) {
  if (id === undefined) return null
  // The upstream may refuse the list's query parameters for a single lead, so the path is also tried without
  // them.
  for (const query of new Set([list.url.search, ''])) {
    const url = leadUrl(list, id, query)
    const reply = await asker.get(url)
    const envelope = isFine(reply) ? envelopeOf(reply.body, list.id, id) : null
    if (envelope === null) continue
    const second = other === undefined ? null : await asker.get(leadUrl(list, other, query))
    const isOwn = second === null || toText(readPath(readPath(second.body, envelope), list.id)) === other
    if (!isOwn) return null
    const path = leadPath(base, list, query)
    const evidence = evidenceOf(reply, 'the record itself')
    return { path, envelope, finding: finding('endpoints.lead', path, 'proved', evidence) }
  }
  return null
}

function leadUrl({ url }: List, id: string, query: string): URL {
  const lead = new URL(url)
  const slash = url.pathname.endsWith('/') ? '/' : ''
  lead.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/${encodeURIComponent(id)}${slash}`
  lead.search = query
  return lead
}

/** A whole URL if the query of `api.url` must not be sent, because that query is added to every path. */
function leadPath(base: URL, { url }: List, query: string): string {
  const slash = url.pathname.endsWith('/') ? '/' : ''
  const bareUrl = url.origin + url.pathname.replace(/(?<!\/)\/+$/, '')
  if (query !== url.search && base.search !== '') return `${bareUrl}/{id}${slash}`
  const listPath = endpointPath(base, url)
  const [bare = '', own] = (listPath === '.' ? '' : listPath).split('?')
  const rest = own === undefined || query !== url.search ? '' : `?${own}`
  return `${bare.replace(/(?<!\/)\/+$/, '')}/{id}${slash}${rest}`
}

/** Returns the path of the record with this id in the answer for a single lead; null if there is none. */
function envelopeOf(body: unknown, idPath: FieldPath, id: string): FieldPath | null {
  const places: FieldPath[] = [[]]
  if (typeof body === 'object' && body !== null) places.push(...Object.keys(body).map((name) => [name]))
  return places.find((place) => toText(readPath(readPath(body, place), idPath)) === id) ?? null
}

function isFine({ status, body }: Reply): boolean {
  return status >= 200 && status < 300 && typeof body === 'object' && body !== null
}
