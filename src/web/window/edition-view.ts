/** The page of an edition: one of its mails as it was sent, what is known of it, and who got it. */
import { variantText } from '../../jobs/archive/archive-index.ts'
import { bannerOf, type KeptEdition } from '../../jobs/reports/issue-page.ts'
import type { Letter } from '../../model.ts'
import { tellDates } from '../../report/period.ts'
import type { EditionLetter } from '../../store/outbox/kept-messages.ts'
import type { EditionName } from '../../store/reports/issue-list.ts'
import { type Button, testButton } from './buttons.ts'
import { composeLetters, type LettersView, letterHref, letterName, tagOf } from './edition-letters.ts'
import { aboutEdition, type EditionLine, editionHref, editionLine, editionTag } from './edition-line.ts'
import type { Clock, Moment } from './moment.ts'
import { bytes } from './numbers.ts'
import type { Tag } from './status/tag.ts'

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
