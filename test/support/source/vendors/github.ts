/**
 * GitHub, from the pages "List repository issues" and "Using pagination in the REST API" of its documentation: `since`
 * asks for changes, the next page is in the header Link, and an issue is named by its number.
 */
import { BEARER, byCreation, byUpdate, type Dialect, inSeconds, linkTo } from './vendor.ts'

export const GITHUB: Dialect = {
  profile: 'github-issues',
  base: '/repos/example/leads',
  headers: { ...BEARER, 'X-GitHub-Api-Version': '2022-11-28' },
  statuses: ['open', 'closed'],
  copied: ({ number }) => ({ id: String(number), value_amount: null, pipeline_id: 'default' }),
  path: '/issues',
  size: ['per_page', 30, 100],
  pages: 'page',
  isWrong: ({ direction }) => direction !== 'asc',
  has: ({ updated, status }, { since = '', state }) =>
    inSeconds(updated) >= since && (status === 'open' || state === 'all'),
  order: ({ sort }) => (sort === 'updated' ? byUpdate : byCreation),
  record: (kept) => ({
    id: 3_000_000_000 + kept.number,
    number: kept.number,
    title: kept.company,
    state: kept.status,
    user: { login: kept.contact, id: 1 },
    assignee: { login: kept.owner, id: 2 },
    created_at: inSeconds(kept.created),
    updated_at: inSeconds(kept.updated),
  }),
  page: ({ items: body, next, size }, asked) => ({
    headers: next === null ? {} : { link: `<${linkTo(asked, 'page', 1 + next / size)}>; rel="next"` },
    body,
  }),
  single: ({ number }) => `/issues/${number}`,
}
