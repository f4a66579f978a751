/** The pages of one edition: a mail of it as it was sent, and how each of its figures is made. */
import type { FastifyRequest } from 'fastify'
import { tellDates } from '../../../domain/period.ts'
import { LeadsheetError } from '../../../errors.ts'
import { variantText } from '../../../jobs/archive/archive-index.ts'
import { listFigureFiles } from '../../../jobs/reports/figure-files.ts'
import type { KeptEdition } from '../../../jobs/reports/issue-page.ts'
import { bannerOf, readAbout, readKeptEdition } from '../../../jobs/reports/issue-page.ts'
import type { Letter } from '../../../model.ts'
import type { AboutView } from '../../../report/archive/pages.ts'
import type { EditionLetter } from '../../../store/outbox/kept-messages.ts'
import { findLetter } from '../../../store/outbox/message.ts'
import type { EditionName } from '../../../store/reports/issue-list.ts'
import type { DashboardDeps } from '../../server/frame.ts'
import { frameOf } from '../../server/frame.ts'
import type { AddRoutes } from '../../server/server.ts'
import { sendPage } from '../../server/server.ts'
import type { Button } from '../actions/buttons.ts'
import { testButton } from '../actions/buttons.ts'
import type { Clock, Moment, Tag } from '../format.ts'
import { bytes, clockOf } from '../format.ts'
import type { LettersView } from './edition-letters.ts'
import { composeLetters, letterHref, letterName, tagOf } from './edition-letters.ts'
import type { EditionLine } from './list.ts'
import { aboutEdition, editionHref, editionLine, editionTag } from './list.ts'

interface FiguresView extends EditionHead {
  readonly files: readonly { readonly text: string; readonly href: string }[]
  /** Null of an older program. */
  readonly blocks: AboutView['blocks'] | null
}

interface Route {
  readonly Params: { readonly edition: string }
  readonly Querystring: Readonly<Partial<Record<'letter' | 'as' | 'letters', unknown>>>
}

export function editionRoutes({ store: { db }, pages, now, timeZone }: DashboardDeps): AddRoutes {
  const editionPage = pages.page<EditionView>('edition')
  const figuresPage = pages.page<FiguresView>('edition-figures')
  const find = async ({ params }: FastifyRequest<Route>): Promise<KeptEdition> => {
    const kept = await readKeptEdition(db, params.edition, now())
    if (kept === null) throw unknownEdition()
    return kept
  }
  return (app) => {
    app.get<Route>('/archive/:edition', async (request, reply) => {
      const kept = await find(request)
      const { letter: wanted, as, letters } = request.query
      const letter = chooseLetter(kept, wanted)
      const content = letter && (await findLetter(db, letter.messageId))
      const choice = { letter, content, isText: as === 'text' }
      const view = composeEdition(kept, choice, letters === 'all', clockOf(timeZone, now()), timeZone)
      return sendPage(reply, editionPage(view, frameOf(request, kept.edition.subject, '/archive')))
    })
    app.get<Route>('/archive/:edition/figures', async (request, reply) => {
      const kept = await find(request)
      const { edition } = kept
      const about = await readAbout(db, edition)
      const view = {
        ...headOf(kept, 'figures'),
        files: listFigureFiles(edition).map(({ name, title }) => ({
          text: title,
          href: `${editionHref(edition.id)}/csv/${encodeURIComponent(name)}`,
        })),
        blocks: about?.blocks ?? null,
      }
      return sendPage(reply, figuresPage(view, frameOf(request, `Figures: ${edition.subject}`, '/archive')))
    })
  }
}

export function unknownEdition(): LeadsheetError {
  return new LeadsheetError('report_not_kept', 'There is no such edition', {
    hint: 'The archive lists those that there are.',
  })
}

export function unknownLetter(): LeadsheetError {
  return new LeadsheetError('report_not_kept', 'There is no such letter', {
    hint: 'The page of the edition lists those that there are.',
  })
}

/** The one that is wanted; else the first there is. */
function chooseLetter({ letters }: KeptEdition, wanted: unknown): EditionLetter | null {
  if (wanted === KEPT) return null
  if (typeof wanted !== 'string') return letters[0] ?? null
  const found = letters.find(({ messageId }) => letterName(messageId) === wanted)
  if (found === undefined) throw unknownLetter()
  return found
}

/* The page of an edition: one of its mails as it was sent, what is known of it, and who got it. */

/** What stands above each page about an edition. */
/** Of a mail on a phone: what is higher than in its text part, and each line of that. */
const ROUND_IT_PX = 500
const LINE_PX = 34

export interface EditionHead {
  readonly subject: string
  readonly about: string
  readonly tag: Tag
  readonly places: readonly { readonly href: string; readonly text: string; readonly isHere: boolean }[]
  /** In the series. */
  readonly older: NeighbourView | null
  readonly newer: NeighbourView | null
}

export interface EditionView extends EditionHead {
  readonly banner: { readonly kind: 'warn' | 'off'; readonly lines: readonly string[] } | null
  readonly mail: MailView
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  readonly made: Moment
  readonly files: readonly { readonly name: string; readonly href: string; readonly size: string }[]
  readonly beside: readonly EditionLine[]
  readonly letters: LettersView
  readonly test: Button
}

interface NeighbourView {
  readonly href: string
  readonly dates: string
}

interface MailView {
  readonly heading: string
  /** Where it is another than that of the edition, as in another language. */
  readonly subject: string | null
  readonly tag: Tag | null
  readonly since: Moment | null
  /** Of the frame; null where the letter is no longer there. */
  readonly src: string | null
  /** Pixels that it is about as high as on a phone: its frame has no script that could ask. */
  readonly height: string
  /** Its text part, where that is wanted. */
  readonly text: string | null
  /** The same mail as HTML, and as text. */
  readonly asHtml: string
  readonly asText: string
  readonly eml: string | null
  /** The edition as it was made for nobody in particular; null where that is what is shown. */
  readonly kept: string | null
}

/** Which of the mails of an edition is wanted, and how. */
export interface MailChoice {
  /** Null for the edition as it was made for nobody in particular. */
  readonly letter: EditionLetter | null
  /** All of it; null where it is no longer there, or no letter was chosen. */
  readonly content: Letter | null
  readonly isText: boolean
}

/** In an address, in the place of a letter: the edition as it was made for nobody in particular. */
export const KEPT = 'edition'

export function composeEdition(
  kept: KeptEdition,
  choice: MailChoice,
  isAllLetters: boolean,
  clock: Clock,
  timeZone: string,
): EditionView {
  const { edition } = kept
  const { period, variant, report, renderedAt, programVersion, figures } = edition
  const banner = bannerOf(edition, timeZone)
  const { letter, content } = choice
  return {
    ...headOf(kept, 'mail'),
    banner: banner && { kind: banner.isWarning ? 'warn' : 'off', lines: banner.lines },
    mail: composeMail(kept, choice, clock),
    facts: [
      { name: 'Period', value: `${tellDates(period)} (${period.timeZone})` },
      ...(programVersion === null ? [] : [{ name: 'Compared with', value: tellDates(figures.prior) }]),
      { name: 'Leads', value: variantText(variant) ?? 'all that the report is about' },
      ...(programVersion === null ? [] : [{ name: 'Data as of', value: dataAsOf(kept, clock) }]),
      {
        name: 'Made by',
        value: programVersion === null ? 'an older leadsheet' : `leadsheet ${programVersion}`,
      },
    ],
    made: clock.at(renderedAt),
    files: (content?.files ?? []).flatMap((file, index) =>
      file.cid !== null || letter === null
        ? []
        : [
            {
              name: file.name,
              href: `${letterHref(edition.id, letter.messageId)}/file/${index}`,
              size: bytes(file.content.length),
            },
          ],
    ),
    beside: kept.beside.map((other) => editionLine(other, clock)),
    letters: composeLetters(kept, letter?.messageId ?? null, isAllLetters, clock),
    test: testButton(report),
  }
}

/** @param here which of the pages it is; the neighbours are led to from the same one */
export function headOf({ edition, line, older, newer }: KeptEdition, here: 'mail' | 'figures'): EditionHead {
  const pathOf = (id: string, place: typeof here) =>
    `${editionHref(id)}${place === 'figures' ? '/figures' : ''}`
  const neighbour = (name: EditionName | null) =>
    name && { href: pathOf(name.id, here), dates: tellDates(name.period) }
  return {
    subject: edition.subject,
    about: aboutEdition(edition),
    tag: editionTag(line),
    places: [
      { href: pathOf(edition.id, 'mail'), text: 'Mail and letters', isHere: here === 'mail' },
      { href: pathOf(edition.id, 'figures'), text: 'Figures and their SQL', isHere: here === 'figures' },
    ],
    older: neighbour(older),
    newer: neighbour(newer),
  }
}

function composeMail(
  { edition }: KeptEdition,
  { letter, content, isText }: MailChoice,
  clock: Clock,
): MailView {
  const name = letter === null ? KEPT : letterName(letter.messageId)
  const shown = (as: 'html' | 'text') =>
    `${editionHref(edition.id)}?${new URLSearchParams({ letter: name, ...(as === 'text' ? { as } : {}) })}#mail`
  const isThere = letter === null || content !== null
  const text = letter === null ? edition.text : (content?.text ?? null)
  return {
    heading: letter === null ? 'As it was made, for nobody in particular' : `To ${letter.recipient}`,
    subject: content === null || content.subject === edition.subject ? null : content.subject,
    tag: letter && tagOf(letter),
    since: letter && clock.at(letter.stateAt),
    src: isThere && !isText ? `${editionHref(edition.id)}/mail/${encodeURIComponent(name)}` : null,
    height: String(ROUND_IT_PX + LINE_PX * (text ?? '').split('\n').length),
    text: isText ? text : null,
    asHtml: shown('html'),
    asText: shown('text'),
    eml: letter === null || content === null ? null : `${letterHref(edition.id, letter.messageId)}.eml`,
    kept: letter === null ? null : `${editionHref(edition.id)}?letter=${KEPT}#mail`,
  }
}

function dataAsOf({ edition: { figures } }: KeptEdition, clock: Clock): string {
  const { dataAsOf: at } = figures.freshness
  return at === null ? 'no complete sync' : clock.at(at).text
}
