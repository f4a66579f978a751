/** The verdict on a day: one sentence for the top of the mail and its short form for the subject. */
import type { DailyFigures } from '../model.ts'
import { percentOf } from './change.ts'
import { coverageOf, isFirstDay } from './coverage.ts'
import { FEW, formatCount } from './format.ts'
import { words } from './messages.ts'
import { formatInstant, nameDay, type Reader } from './moment.ts'

export interface HeadlineView {
  readonly text: string
  /** What adds to it in smaller letters; empty when nothing does. */
  readonly detail: string
  /** The verdict as the subject has it, without title and date. */
  readonly subject: string
}

type Verdict = Pick<HeadlineView, 'text' | 'subject'> & { readonly detail?: string }

/** New leads within this share of the prior day count as the same. */
const SAME_SHARE = 0.1

export function composeHeadline(
  figures: DailyFigures,
  reader: Reader,
  needs: { readonly failingAgents: number; readonly attention: boolean },
): HeadlineView {
  const verdict = verdictOf(figures, reader)
  const failing = needs.failingAgents > 0 ? [words.subject.failing(needs.failingAgents)] : []
  const calm = !needs.attention && coverageOf(figures) === 'whole' && figures.leads > 0
  return {
    text: verdict.text,
    detail: [verdict.detail, calm && words.headline.allWell].filter(Boolean).join(' '),
    subject: [verdict.subject, ...failing].join(', '),
  }
}

function verdictOf(figures: DailyFigures, reader: Reader): Verdict {
  const { freshness, newLeads, won } = figures
  const { weekday } = nameDay(figures.period)
  const end = freshness.dataAsOf && formatInstant(freshness.dataAsOf, reader)
  const coverage = coverageOf(figures)
  if (coverage === 'none') {
    return { text: words.headline.noData(weekday, end), subject: words.subject.noData(end) }
  }
  if (coverage === 'part') {
    return {
      text: words.headline.incomplete(newLeads.current, won.current),
      subject: words.subject.incomplete(newLeads.current, won.current),
    }
  }
  if (figures.leads === 0) return { text: words.headline.empty, subject: words.subject.empty }
  if (newLeads.current + won.current === 0) return quiet(figures, weekday)
  const counts = words.headline.counts(newLeads.current, won.current)
  const subject = [subjectOfNew(figures), words.subject.won(won.current)].join(', ')
  return isFirstDay(figures)
    ? { text: words.headline.first(counts), detail: words.headline.firstDetail, subject }
    : { text: comparison(figures, counts, weekday), subject }
}

function quiet({ newLeads, won }: DailyFigures, weekday: string): Verdict {
  const text = words.headline.quiet(weekday)
  const subject = words.subject.quiet
  if (newLeads.prior + won.prior === 0) return { text, subject }
  return { text, detail: words.headline.quietBefore(weekday, newLeads.prior, won.prior), subject }
}

function comparison({ newLeads, won }: DailyFigures, counts: string, weekday: string): string {
  const difference = newLeads.current - newLeads.prior
  const leads = Math.abs(difference) < newLeads.prior * SAME_SHARE ? 0 : Math.sign(difference)
  const wins = Math.sign(won.current - won.prior)
  const say =
    leads * wins < 0
      ? words.headline[leads > 0 ? 'moreLeads' : 'fewerLeads']
      : words.headline[leads + wins > 0 ? 'better' : leads + wins < 0 ? 'slower' : 'same']
  return words.headline.verdict(counts, say(weekday), formatCount(newLeads.prior), formatCount(won.prior))
}

function subjectOfNew({ newLeads }: DailyFigures): string {
  const isFew = newLeads.current < FEW || newLeads.prior < FEW
  return words.subject.newLeads(newLeads.current, isFew ? null : percentOf(newLeads.current, newLeads.prior))
}
