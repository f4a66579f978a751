/** An edition as a line of a list: where it is, what it was called, of when and for whom, and what became of it. */
import { editionState, variantText } from '../../jobs/archive/archive-index.ts'
import { tellDates } from '../../report/period.ts'
import type { ListedEdition } from '../../store/reports/issue-list.ts'
import type { Clock, Moment } from './moment.ts'
import type { Tag } from './status/tag.ts'

export interface EditionLine {
  readonly href: string
  readonly subject: string
  /** `daily · 2026-11-20`, and of which leads where they are not all of them. */
  readonly about: string
  readonly made: Moment
  readonly tag: Tag
}

export function editionLine(edition: ListedEdition, clock: Clock): EditionLine {
  const { id, subject, renderedAt } = edition
  return {
    href: editionHref(id),
    subject,
    about: aboutEdition(edition),
    made: clock.at(renderedAt),
    tag: editionTag(edition),
  }
}

export function editionHref(id: string): string {
  return `/archive/${encodeURIComponent(id)}`
}

export function aboutEdition({
  report,
  period,
  variant,
}: Pick<ListedEdition, 'report' | 'period' | 'variant'>): string {
  const scope = variantText(variant)
  return [report, tellDates(period), ...(scope === null ? [] : [scope])].join(' · ')
}

export function editionTag(edition: ListedEdition): Tag {
  return { kind: kindOf(edition), text: editionState(edition) }
}

function kindOf({ letters }: ListedEdition): Tag['kind'] {
  const { total, sent, failed, inDoubt, withdrawn } = letters
  if (total === 0) return 'off'
  if (failed > 0) return 'fail'
  if (inDoubt > 0) return 'warn'
  return sent + withdrawn === total ? 'ok' : 'busy'
}
