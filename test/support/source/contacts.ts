/**
 * An upstream with other conventions than the reference service, which the probe can explore: numbered pages
 * of contacts.
 */
import { factsOf, inHeader, pageIn, type Shape } from './foreign.ts'

export const CONTACTS: Shape = {
  path: '/crm/contacts',
  lets: inHeader('x-api-key'),
  record: (number) => {
    const { first, company, status, score, created, updated } = factsOf(number)
    const times = { created_at: created.toISOString(), modified_at: updated.toISOString() }
    return { id: number + 1, name: first, company, status, score, ...times }
  },
  list: (all, url) => {
    const since = url.searchParams.get('modified_since') ?? ''
    const matching = all.filter((record) => String(record.modified_at) >= since)
    const { items } = pageIn(matching, url, 'page', ['per_page', 20, 100])
    return { body: { contacts: items, total: matching.length } }
  },
}
