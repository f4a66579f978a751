/**
 * GitHub, from the pages "List repository issues" and "Using pagination in the REST API" of its documentation: `since`
 * asks for changes, the next page is in the header Link, and an issue is named by its number.
 */
import { byCreation, byUpdate, type Dialect, inSeconds, KEY, type Kept, refused } from './vendor.ts'

const issueOf = (kept: Kept) => ({
  id: 3_000_000_000 + kept.number,
  number: kept.number,
  title: kept.company,
  state: kept.status,
  user: { login: kept.contact, id: 1 },
  assignee: { login: kept.owner, id: 2 },
  author_association: 'NONE',
  labels: [],
  created_at: inSeconds(kept.created),
  updated_at: inSeconds(kept.updated),
  closed_at: kept.status === 'closed' ? inSeconds(kept.updated) : null,
})

export const GITHUB: Dialect = {
  profile: 'github-issues',
  base: '/repos/example/leads',
  headers: { Authorization: `Bearer ${KEY}`, 'X-GitHub-Api-Version': '2022-11-28' },
  statuses: ['open', 'closed'],
  copied: ({ number }) => ({ id: String(number), value_amount: null, pipeline_id: 'default' }),
  answer: ({ path, query, origin }, kept) => {
    const one = kept.find(({ number }) => path === `/issues/${number}`)
    if (one !== undefined) return { body: issueOf(one) }
    if (path !== '/issues') return null
    const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 30)]
    if (size > 100 || query.get('direction') !== 'asc') return refused('Validation Failed', 422)
    const since = query.get('since') ?? ''
    const found = kept
      .filter(
        ({ updated, status }) =>
          inSeconds(updated) >= since && (status === 'open' || query.get('state') === 'all'),
      )
      .sort(query.get('sort') === 'updated' ? byUpdate : byCreation)
    const next = new URLSearchParams(query)
    next.set('page', String(page + 1))
    const link = page * size < found.length ? { link: `<${origin}/issues?${next}>; rel="next"` } : {}
    return { headers: link, body: found.slice((page - 1) * size, page * size).map(issueOf) }
  },
}
