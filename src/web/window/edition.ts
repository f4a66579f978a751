/** The pages of one edition: a mail of it as it was sent, and how each of its figures is made. */
import type { FastifyRequest } from 'fastify'
import { LeadsheetError } from '../../errors.ts'
import { listFigureFiles } from '../../jobs/reports/figure-files.ts'
import { type KeptEdition, readAbout, readKeptEdition } from '../../jobs/reports/issue-page.ts'
import type { AboutView } from '../../report/archive-pages.ts'
import type { EditionLetter } from '../../store/outbox/kept-messages.ts'
import { findLetter } from '../../store/outbox/message.ts'
import { type AddRoutes, sendPage } from '../server.ts'
import { letterName } from './edition-letters.ts'
import { editionHref } from './edition-line.ts'
import { composeEdition, type EditionHead, type EditionView, headOf, KEPT } from './edition-view.ts'
import { frameOf } from './frame.ts'
import { clockOf } from './moment.ts'
import type { WindowDeps } from './window.ts'

interface FiguresView extends EditionHead {
  readonly files: readonly { readonly text: string; readonly href: string }[]
  /** Null of an older program. */
  readonly blocks: AboutView['blocks'] | null
}

interface Route {
  readonly Params: { readonly edition: string }
  readonly Querystring: Readonly<Partial<Record<'letter' | 'as' | 'letters', unknown>>>
}

export function editionRoutes({ store: { db }, pages, now, timeZone }: WindowDeps): AddRoutes {
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
