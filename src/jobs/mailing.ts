/**
 * The letters of a report: an edition for each choice of leads that its recipients have, and in the ledger a letter
 * for each of them. What was made for some is let go before the next, so that it takes no more room for a thousand.
 */
import type { Letter } from '../model.ts'
import { enqueueLetter, listDeliveries } from '../store/delivery.ts'
import { type Edition, findLastSent, noteNotSent } from '../store/edition.ts'
import { contentsOf } from './content.ts'
import type { DeliverySummary } from './deliver.ts'
import { type EditionDeps, findPeriod, makeEdition } from './edition.ts'
import { letterFor, type Sender } from './letter.ts'
import { type Recipient, type Report, variantOf } from './report.ts'
import { reasonNotToSend } from './send-policy.ts'

export interface MailingDeps extends EditionDeps {
  readonly sender: Sender
}

/** An edition and what is to become of it. */
export interface Mailing {
  readonly edition: Pick<Edition, 'id' | 'period' | 'variant' | 'subject'>
  /** Path of its page in the archive. */
  readonly page: string
  /** Null where its letters are in the ledger. */
  readonly notSent: string | null
}

/** Letters that one transaction writes. */
const LETTERS_AT_ONCE = 50

/**
 * Who has a letter already keeps it, and who is new gets the edition that the others got.
 * @param at when the report is due
 * @throws LeadsheetError report_no_data, report_template, query_failed, data_unwritable
 */
export async function enqueueReport(
  deps: MailingDeps,
  report: Report,
  recipients: readonly Recipient[],
  at: Date,
  signal: AbortSignal,
): Promise<Mailing[]> {
  const mailings: Mailing[] = []
  for (const [first, ...others] of Map.groupBy(recipients, (one) => variantOf(report, one)).values()) {
    if (first === undefined || signal.aborted) continue
    mailings.push(await enqueueEdition(deps, report, [first, ...others], at, signal))
  }
  return mailings
}

/** `Daily leads: 59 new …: 12 of 12 letters sent`; of several editions how many there are. */
export function mailingText(mailings: readonly Mailing[], deliveries: readonly DeliverySummary[]): string {
  const [first, second] = mailings
  if (first === undefined) return 'nobody gets it'
  const sent = deliveries.filter(({ state }) => state === 'sent').length
  const isOld = sent > 0 && deliveries.every(({ isNew }) => !isNew)
  const letters = `${sent} of ${deliveries.length} letters sent${isOld ? ' before' : ''}`
  if (second === undefined) {
    return `${first.edition.subject}: ${first.notSent === null ? letters : `not sent: ${first.notSent}`}`
  }
  const quiet = mailings.filter(({ notSent }) => notSent !== null)
  const unsent = quiet.length === 0 ? '' : `, ${quiet.length} not sent: ${quiet[0]?.notSent}`
  return `${mailings.length} editions${unsent}; ${letters}`
}

async function enqueueEdition(
  deps: MailingDeps,
  report: Report,
  recipients: readonly [Recipient, ...Recipient[]],
  at: Date,
  signal: AbortSignal,
): Promise<Mailing> {
  const period = await findPeriod(deps.store, report, at, recipients[0])
  const { edition, page } = await makeEdition(deps, report, period, recipients, signal)
  const notSent = edition.isMailed ? null : await judge(deps, report, edition)
  if (notSent !== edition.notSent) await deps.store.write((trx) => noteNotSent(trx, edition.id, notSent))
  if (notSent === null) await writeLetters(deps, report, edition, recipients)
  const { id, variant, subject } = edition
  return { edition: { id, period, variant, subject }, page, notSent }
}

async function judge({ store }: MailingDeps, report: Report, edition: Edition): Promise<string | null> {
  const last = await findLastSent(store.db, edition, edition.period.to)
  return reasonNotToSend(report.send, edition.figures, last?.figures ?? null)
}

async function writeLetters(
  deps: MailingDeps,
  report: Report,
  edition: Edition,
  recipients: readonly Recipient[],
): Promise<void> {
  const findContent = contentsOf(deps, report, edition)
  const written = new Set((await listDeliveries(deps.store.db, edition.id)).map(({ recipient }) => recipient))
  const missing = recipients.filter(({ address }) => !written.has(address))
  for (let from = 0; from < missing.length; from += LETTERS_AT_ONCE) {
    const letters: Letter[] = []
    for (const recipient of missing.slice(from, from + LETTERS_AT_ONCE)) {
      const content = await findContent(recipient, recipient.address)
      letters.push(letterFor(deps.store, edition, recipient, content, deps.sender))
    }
    await deps.store.write(async (trx) => {
      for (const letter of letters) await enqueueLetter(trx, edition.id, letter, edition.renderedAt)
    })
  }
}
