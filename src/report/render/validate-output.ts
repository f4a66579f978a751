/** Checks whether a rendered report may be sent, because an empty mail is worse than none. */
import { LeadsheetError } from '../../errors.ts'
import type { Rendered } from '../../model.ts'
import type { ReportView } from '../compose-report.ts'

// Matches the preheader, which also contains the headline but is only shown in the inbox.
const PREHEADER = /<div[^>]*aria-hidden="true"[^>]*>.*?<\/div>/s

/**
 * Requires a text part, and the headline on the page if the blocks include it.
 * @param name the name of the report, for messages
 * @throws LeadsheetError report_failed
 */
export function checkRendered({ html, text }: Rendered, view: ReportView, name: string): void {
  if (text.trim() === '') throw refused(name, 'its text part is empty')
  const headline = view.blocks.find((block) => block.kind === 'headline')
  if (headline !== undefined && !html.replace(PREHEADER, '').includes(escapeText(headline.text))) {
    throw refused(name, 'its page lacks the headline')
  }
}

/** Escapes text in the same way as the inliner. */
function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('\u00a0', '&nbsp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

function refused(name: string, what: string): LeadsheetError {
  return new LeadsheetError('report_failed', `The report ${name} is not sent: ${what}`, {
    hint: 'Look at its templates; a report that is to have no headline leaves it out of its blocks.',
  })
}
