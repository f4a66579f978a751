/** Composes the boxes that replace failed parts of a report. */
import type { FailedSection, ReportFigures } from '../domain/figures.ts'
import { isWordKey } from './words/catalogue.ts'
import { oneLine } from './words/clean-text.ts'
import type { LocaleContext } from './words/locale-context.ts'

export type FailedView = ReturnType<typeof composeFailed>

const TITLE_LENGTH = 80
const REASON_LENGTH = 200

export function hasFailed({ failed }: Pick<ReportFigures, 'failed'>, block: string): boolean {
  return failed.some((each) => each.block === block && each.query === null)
}

export function composeFailed(
  failed: FailedSection,
  { queries }: Pick<ReportFigures, 'queries'>,
  locale: LocaleContext,
) {
  const { words } = locale
  return {
    kind: 'failed' as const,
    title: nameSection(failed, queries, locale),
    note: words('failed.note'),
    reason: words('failed.reason', { text: oneLine(failed.message, REASON_LENGTH) }),
  }
}

/** Composes the box below a block whose charts failed, but whose other parts did not. */
export function composeFailedCharts({ message }: FailedSection, { words }: LocaleContext): FailedView {
  const reason = words('failed.reason', { text: oneLine(message, REASON_LENGTH) })
  return { kind: 'failed', title: '', note: words('failed.charts'), reason }
}

export function nameSection(
  { block, query }: FailedSection,
  queries: ReportFigures['queries'],
  { words }: LocaleContext,
): string {
  if (query !== null) return oneLine(queries.find(({ name }) => name === query)?.title ?? query, TITLE_LENGTH)
  const key = `${block}.title`
  return isWordKey(key) ? words(key) : block
}
