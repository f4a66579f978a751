/** The archive page: lists all report issues, newest first, filtered by report, state and words. */

import { formatDates, localDates } from '../../../domain/period.ts'
import { issueState, variantText } from '../../../jobs/archive/archive.ts'
import { type IssueChoice, searchIssues } from '../../../jobs/archive/search-issues.ts'
import { countIssues, type ListedIssue, type MessageCounts } from '../../../store/reports/issue-list.ts'
import { ISSUE_STATES, type IssueState, listIssueReports } from '../../../store/reports/issue-search.ts'
import { clockOf, type Tag } from '../../server/format.ts'
import { type DashboardDeps, frameOf } from '../../server/frame.ts'
import { type AddRoutes, sendPage } from '../../server/server.ts'

const PATH = '/archive'
const PAGE_LINES = 50

const STATE_TEXTS: Readonly<Record<IssueState, string>> = {
  sent: 'Sent to all',
  waiting: 'Still to be sent',
  failed: 'Refused or bounced for some',
  unconfirmed: 'Unconfirmed for some',
  not_sent: 'Not worth a mail',
  looked_at: 'Only looked at',
}

export function issuesRoutes({ store: { db }, pages, now, timeZone }: DashboardDeps): AddRoutes {
  const page = pages.page('issues')
  return (app) => {
    app.get<{ Querystring: Query }>(PATH, async (request, reply) => {
      const choice = choiceOf(request.query)
      const found = await searchIssues(db, choice, PAGE_LINES + 1)
      const shown = found.slice(0, PAGE_LINES)
      const last = found.length > shown.length ? (shown.at(-1)?.id ?? null) : null
      const total = await countIssues(db)
      const reports = await listIssueReports(db)
      const isFiltered = choice.text !== '' || choice.report !== null || choice.state !== null
      const view = {
        total,
        text: choice.text,
        reports: reports.map((name) => ({ name, isChosen: name === choice.report })),
        states: ISSUE_STATES.map((state) => ({
          state,
          text: STATE_TEXTS[state],
          isChosen: state === choice.state,
        })),
        isFiltered,
        months: monthsOf(shown),
        newest: choice.after === null ? null : hrefOf({ ...choice, after: null }),
        older: last === null ? null : hrefOf({ ...choice, after: last }),
      }
      return sendPage(reply, page(view, frameOf(request, 'Archive', PATH), clockOf(timeZone, now())))
    })
  }
}

/** The query of the URL. A field that is given twice arrives as an array and is ignored. */
type Query = Readonly<Partial<Record<'q' | 'report' | 'state' | 'after', unknown>>>

function choiceOf({ q, report, state, after }: Query): IssueChoice {
  return {
    text: textOf(q) ?? '',
    report: textOf(report),
    state: ISSUE_STATES.find((each) => each === state) ?? null,
    after: textOf(after),
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

function hrefOf({ text, report, state, after }: IssueChoice): string {
  const query = new URLSearchParams({
    ...(text === '' ? {} : { q: text }),
    ...(report === null ? {} : { report }),
    ...(state === null ? {} : { state }),
    ...(after === null ? {} : { after }),
  })
  return query.size === 0 ? PATH : `${PATH}?${query}`
}

function monthsOf(issues: readonly ListedIssue[]) {
  const byMonth = Map.groupBy(issues, ({ period }) => localDates(period).slice(0, 'yyyy-mm'.length))
  return [...byMonth].map(([month, all]) => ({
    name: monthName(month),
    issues: all.map(issueLine),
  }))
}

function monthName(month: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
  return format.format(Date.parse(`${month}-01`))
}

/** Returns what a list of issues shows of one: its subject, its report and date, and its state. */
export function issueLine(issue: ListedIssue) {
  const { id, subject, renderedAt } = issue
  return { href: issueHref(id), subject, about: aboutIssue(issue), made: renderedAt, tag: issueTag(issue) }
}

export function issueHref(id: string): string {
  return `/archive/${encodeURIComponent(id)}`
}

export function aboutIssue({
  report,
  period,
  variant,
}: Pick<ListedIssue, 'report' | 'period' | 'variant'>): string {
  const scope = variantText(variant)
  return [report, formatDates(period), ...(scope === null ? [] : [scope])].join(' · ')
}

export function issueTag(issue: ListedIssue): Tag {
  return { kind: kindOf(issue), text: issueState(issue) }
}

function kindOf({ messages, copies }: ListedIssue): Tag['kind'] {
  if (messages.total === 0) return 'off'
  const count = (state: keyof MessageCounts): number => messages[state] + copies[state]
  if (count('failed') + count('bounced') + count('complained') > 0) return 'fail'
  if (count('unconfirmed') > 0) return 'warn'
  return count('sent') + count('withdrawn') === count('total') ? 'ok' : 'busy'
}
