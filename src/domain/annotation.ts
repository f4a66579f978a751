/** Annotations: notes of people about days, such as a campaign. */
import type { Instant } from './model.ts'

/** A note about one or more days. Its days are dates in the time zone of each report. */
export interface Annotation {
  readonly id: number
  /** The local dates of the first and the last day, such as `2026-11-13`. */
  readonly firstDay: string
  readonly lastDay: string
  readonly text: string
  /** The pipeline that it concerns; null for all leads. */
  readonly pipelineId: string | null
  /** Tells whether nothing is learned from its days and no claim is made about them. */
  readonly isLeftOut: boolean
  readonly writtenAt: Instant
  readonly writtenBy: string
}

/** The longest text, in characters. */
export const ANNOTATION_TEXT_MAX = 120

/**
 * Returns whether an annotation concerns the number of some pipelines. What concerns one pipeline concerns the
 * number of all.
 * @param pipelineIds null for all pipelines
 */
export function isAbout(
  { pipelineId }: Pick<Annotation, 'pipelineId'>,
  pipelineIds: readonly string[] | null,
): boolean {
  return pipelineId === null || pipelineIds === null || pipelineIds.includes(pipelineId)
}

/** Tells of each date whether it is left out of the number of some pipelines. */
export function leftOutOf(
  dates: readonly string[],
  annotations: readonly Annotation[],
  pipelineIds: readonly string[] | null,
): boolean[] {
  const some = annotations.filter((each) => each.isLeftOut && isAbout(each, pipelineIds))
  return dates.map((date) => some.some(({ firstDay, lastDay }) => firstDay <= date && date <= lastDay))
}
