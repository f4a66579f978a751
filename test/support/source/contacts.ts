/**
 * An upstream with other conventions than the reference service, which the probe can explore: numbered pages
 * of contacts.
 */
import { changedIn, factsOf, inHeader, pageIn, type Shape } from './foreign.ts'

export const CONTACTS: Shape = {
  path: '/crm/contacts',
  lets: inHeader('x-api-key'),
  record: (number) => {
    const { first, company, status, score, created, updated } = factsOf(number)
    const times = { created_at: created.toISOString(), modified_at: updated.toISOString() }
    return { id: number + 1, name: first, company, status, score, ...times }
  },
  list: (all, url) => {
    const matching = changedIn(all, url, 'modified_since', 'modified_at')
    const { items } = pageIn(matching, url, 'page', ['per_page', 20, 100])
    return { body: { contacts: items, total: matching.length } }
  },
}
