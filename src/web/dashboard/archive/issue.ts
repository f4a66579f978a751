/** The pages of one issue: a mail as it was sent, its recipients, and how each figure was made. */
import type { FastifyRequest } from 'fastify'
import type { Message } from '../../../domain/message.ts'
import { formatDates } from '../../../domain/period.ts'
import { LeadsheetError } from '../../../errors.ts'
import { variantText } from '../../../jobs/archive/archive.ts'
import {
  bannerOf,
  type KeptIssue,
  listFigureFiles,
  readAbout,
  readKeptIssue,
} from '../../../jobs/reports/issue-page.ts'
import type { AboutView } from '../../../report/archive/pages.ts'
import type { IssueMessage } from '../../../store/outbox/kept-messages.ts'
import { findMessage } from '../../../store/outbox/stored-message.ts'
import type { IssueName } from '../../../store/reports/issue-list.ts'
import { type DashboardDeps, frameOf } from '../../server/frame.ts'
import { type AddRoutes, sendPage } from '../../server/server.ts'
import { type Button, testButton } from '../actions/buttons.ts'
import { bytes, type Clock, clockOf, type Moment, type Tag } from '../format.ts'
import { composeMessages, type MessagesView, messageHref, messageName, tagOf } from './issue-messages.ts'
import { aboutIssue, type IssueLine, issueHref, issueLine, issueTag } from './list.ts'

interface FiguresView extends IssueHead {
  readonly files: readonly { readonly text: string; readonly href: string }[]
  /** The explanations of the figures; null if the issue has none. */
  readonly blocks: AboutView['blocks'] | null
}

interface Route {
  readonly Params: { readonly issue: string }
  readonly Querystring: Readonly<Partial<Record<'message' | 'as' | 'messages', unknown>>>
}

export function issueRoutes({ store: { db }, pages, now, timeZone }: DashboardDeps): AddRoutes {
  const issuePage = pages.page<IssueView>('issue')
  const figuresPage = pages.page<FiguresView>('issue-figures')
  const find = async ({ params }: FastifyRequest<Route>): Promise<KeptIssue> => {
    const kept = await readKeptIssue(db, params.issue, now())
    if (kept === null) throw unknownIssue()
    return kept
  }
  return (app) => {
    app.get<Route>('/archive/:issue', async (request, reply) => {
      const kept = await find(request)
      const { message: wanted, as, messages } = request.query
      const message = chooseMessage(kept, wanted)
      const content = message && (await findMessage(db, message.messageId))
      const choice = { message, content, isText: as === 'text' }
      const view = composeIssue(kept, choice, messages === 'all', clockOf(timeZone, now()), timeZone)
      return sendPage(reply, issuePage(view, frameOf(request, kept.issue.subject, '/archive')))
    })
    app.get<Route>('/archive/:issue/figures', async (request, reply) => {
      const kept = await find(request)
      const { issue } = kept
      const about = await readAbout(db, issue)
      const view = {
        ...headOf(kept, 'figures'),
        files: listFigureFiles(issue).map(({ name, title }) => ({
          text: title,
          href: `${issueHref(issue.id)}/csv/${encodeURIComponent(name)}`,
        })),
        blocks: about?.blocks ?? null,
      }
      return sendPage(reply, figuresPage(view, frameOf(request, `Figures: ${issue.subject}`, '/archive')))
    })
  }
}

export function unknownIssue(): LeadsheetError {
  return new LeadsheetError('report_not_kept', 'There is no such issue', {
    hint: 'The archive lists those that there are.',
  })
}

export function unknownMessage(): LeadsheetError {
  return new LeadsheetError('report_not_kept', 'There is no such message', {
    hint: 'The page of the issue lists those that there are.',
  })
}

/** Returns the wanted message, or the first message if none is wanted. */
function chooseMessage({ messages }: KeptIssue, wanted: unknown): IssueMessage | null {
  if (wanted === KEPT) return null
  if (typeof wanted !== 'string') return messages[0] ?? null
  const found = messages.find(({ messageId }) => messageName(messageId) === wanted)
  if (found === undefined) throw unknownMessage()
  return found
}

// The height of a mail is estimated for a phone: a fixed part, and a part for each line of the mail's text.
const ROUND_IT_PX = 500
const LINE_PX = 34

interface IssueHead {
  readonly subject: string
  readonly about: string
  readonly tag: Tag
  readonly places: readonly { readonly href: string; readonly text: string; readonly isHere: boolean }[]
  /** The issue of the same report before this issue; null if this issue is the first. */
  readonly older: NeighbourView | null
  readonly newer: NeighbourView | null
}

interface IssueView extends IssueHead {
  readonly banner: { readonly kind: 'warn' | 'off'; readonly lines: readonly string[] } | null
  readonly mail: MailView
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  readonly made: Moment
  readonly files: readonly { readonly name: string; readonly href: string; readonly size: string }[]
  readonly beside: readonly IssueLine[]
  readonly messages: MessagesView
  readonly test: Button
}

interface NeighbourView {
  readonly href: string
  readonly dates: string
}

interface MailView {
  readonly heading: string
  /**
   * The subject of the message; null if it equals the subject of the issue. Messages in another language have
   * another subject.
   */
  readonly subject: string | null
  readonly tag: Tag | null
  readonly since: Moment | null
  /** The address of the frame; null if the message is no longer kept. */
  readonly src: string | null
  /** The height of the frame in pixels. It is estimated, because no script in the frame could measure it. */
  readonly height: string
  /** The text part; null if the HTML is shown. */
  readonly text: string | null
  /** Links to the same mail as HTML and as text. */
  readonly asHtml: string
  readonly asText: string
  readonly eml: string | null
  /** The link to the issue as it was made, without a recipient; null if that is already shown. */
  readonly kept: string | null
}

/** The mail that is shown, and its form. */
interface MailChoice {
  /** The chosen message; null for the issue as it was made, without a recipient. */
  readonly message: IssueMessage | null
  /** The content of the message; null if it is no longer kept, or no message was chosen. */
  readonly content: Message | null
  readonly isText: boolean
}

/** In URLs, this word stands for the issue as it was made, without a recipient. */
export const KEPT = 'issue'

export function composeIssue(
  kept: KeptIssue,
  choice: MailChoice,
  isAllMessages: boolean,
  clock: Clock,
  timeZone: string,
): IssueView {
  const { issue } = kept
  const { period, variant, report, renderedAt, programVersion, figures } = issue
  const banner = bannerOf(issue, timeZone)
  const { message, content } = choice
  return {
    ...headOf(kept, 'mail'),
    banner: banner && { kind: banner.isWarning ? 'warn' : 'off', lines: banner.lines },
    mail: composeMail(kept, choice, clock),
    facts: [
      { name: 'Period', value: `${formatDates(period)} (${period.timeZone})` },
      ...(programVersion === null ? [] : [{ name: 'Compared with', value: formatDates(figures.prior) }]),
      { name: 'Leads', value: variantText(variant) ?? 'all that the report is about' },
      ...(programVersion === null ? [] : [{ name: 'Data as of', value: dataAsOf(kept, clock) }]),
      {
        name: 'Made by',
        value: programVersion === null ? 'an older leadsheet' : `leadsheet ${programVersion}`,
      },
    ],
    made: clock.at(renderedAt),
    files: (content?.files ?? []).flatMap((file, index) =>
      file.cid !== null || message === null
        ? []
        : [
            {
              name: file.name,
              href: `${messageHref(issue.id, message.messageId)}/file/${index}`,
              size: bytes(file.content.length),
            },
          ],
    ),
    beside: kept.beside.map((other) => issueLine(other, clock)),
    messages: composeMessages(kept, message?.messageId ?? null, isAllMessages, clock),
    test: testButton(report),
  }
}

/** @param here the current page; the links to the older and the newer issue open the same kind of page */
function headOf({ issue, line, older, newer }: KeptIssue, here: 'mail' | 'figures'): IssueHead {
  const pathOf = (id: string, place: typeof here) =>
    `${issueHref(id)}${place === 'figures' ? '/figures' : ''}`
  const neighbour = (name: IssueName | null) =>
    name && { href: pathOf(name.id, here), dates: formatDates(name.period) }
  return {
    subject: issue.subject,
    about: aboutIssue(issue),
    tag: issueTag(line),
    places: [
      { href: pathOf(issue.id, 'mail'), text: 'Mail and recipients', isHere: here === 'mail' },
      { href: pathOf(issue.id, 'figures'), text: 'Figures and their SQL', isHere: here === 'figures' },
    ],
    older: neighbour(older),
    newer: neighbour(newer),
  }
}

function composeMail({ issue }: KeptIssue, { message, content, isText }: MailChoice, clock: Clock): MailView {
  const name = message === null ? KEPT : messageName(message.messageId)
  const shown = (as: 'html' | 'text') =>
    `${issueHref(issue.id)}?${new URLSearchParams({ message: name, ...(as === 'text' ? { as } : {}) })}#mail`
  const isThere = message === null || content !== null
  const text = message === null ? issue.text : (content?.text ?? null)
  return {
    heading: message === null ? 'As it was made, for no recipient in particular' : `To ${message.recipient}`,
    subject: content === null || content.subject === issue.subject ? null : content.subject,
    tag: message && tagOf(message),
    since: message && clock.at(message.stateAt),
    src: isThere && !isText ? `${issueHref(issue.id)}/mail/${encodeURIComponent(name)}` : null,
    height: String(ROUND_IT_PX + LINE_PX * (text ?? '').split('\n').length),
    text: isText ? text : null,
    asHtml: shown('html'),
    asText: shown('text'),
    eml: message === null || content === null ? null : `${messageHref(issue.id, message.messageId)}.eml`,
    kept: message === null ? null : `${issueHref(issue.id)}?message=${KEPT}#mail`,
  }
}

function dataAsOf({ issue: { figures } }: KeptIssue, clock: Clock): string {
  const { dataAsOf: at } = figures.freshness
  return at === null ? 'no complete sync' : clock.at(at).text
}
