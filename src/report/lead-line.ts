/** What the lists of a report say of a lead. */
import type { ReportContext } from './context.ts'
import { oneLineOrNull } from './text.ts'

export const NAME_LENGTH = 48

const PIPELINE_LENGTH = 24
// Bound to what is before it, so that no line begins with it.
const SEPARATOR = '\u00a0· '

/** Where the lead can be opened; empty when nowhere. */
export function linkTo(leadId: string, { leadUrl }: ReportContext): string {
  return leadUrl === null ? '' : leadUrl.replaceAll('{id}', encodeURIComponent(leadId.toWellFormed()))
}

/** Named only where there is more than one that it could be; held together, for lines break before it anyway. */
export function pipelineOf(
  { pipelineName }: { readonly pipelineName: string },
  pipelines: readonly string[],
): string | null {
  if (pipelines.length < 2) return null
  return oneLineOrNull(pipelineName, PIPELINE_LENGTH)?.replaceAll(' ', '\u00a0') ?? null
}

export function joined(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(SEPARATOR)
}
