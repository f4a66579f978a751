/**
 * Letters that a person wants sent again. Who has not got one gets it under its Message-ID; who has, gets a new letter
 * that takes the place of the first and says so.
 */
import type { Instant } from '../../model.ts'
import { type Delivery, enqueueLetters, listDeliveries } from '../../store/outbox/delivery.ts'
import { addToPack, createLetterPack, type LetterPack } from '../../store/outbox/message.ts'
import { requeueLetter } from '../../store/outbox/message-requeue.ts'
import { type Edition, listLastMailed } from '../../store/reports/issue.ts'
import { listSubscriptions, type Subscription } from '../../store/reports/preference.ts'
import { claimLease } from '../../store/schedule/lease.ts'
import { letterFor } from '../outbox/message.ts'
import type { MailingDeps } from './enqueue-report.ts'
import { subscriptionText } from './preferences.ts'
import { contentsOf } from './report-content.ts'
import type { Recipient, Report } from './report-definition.ts'

export type ResendChoice =
  | { readonly which: 'failed' | 'in_doubt' | 'all' }
  | { readonly which: 'one'; readonly address: string }

/** The last letter of an edition to one of its recipients. */
interface PlannedLetter {
  readonly edition: Edition
  readonly letter: Delivery
  readonly recipient: Recipient
  /** The Message-ID of the first one. */
  readonly firstId: string
}

export interface ResendPlan {
  /** Under their Message-ID, since they have not arrived, or nobody knows. */
  readonly again: readonly PlannedLetter[]
  /** Who has the letter. */
  readonly anew: readonly PlannedLetter[]
  readonly leftOut: readonly LeftOut[]
}

interface LeftOut {
  readonly recipient: string
  readonly why: string
}

/**
 * Of the editions whose period ended last by an instant.
 * @param recipients whom the settings name
 */
export async function planResend(
  { store }: Pick<MailingDeps, 'store'>,
  report: Report,
  recipients: readonly Recipient[],
  choice: ResendChoice,
  by: Date,
): Promise<ResendPlan> {
  const known = new Map(recipients.map((one) => [one.address.toLowerCase(), one]))
  const wishes = new Map((await listSubscriptions(store.db, report.name)).map((one) => [one.address, one]))
  const again: PlannedLetter[] = []
  const anew: PlannedLetter[] = []
  const leftOut: LeftOut[] = []
  for (const edition of await listLastMailed(store.db, report.name, by.toISOString())) {
    const letters = await listDeliveries(store.db, edition.id)
    const firsts = letters.filter(({ revision }) => revision === 0)
    const firstIds = new Map(firsts.map((first) => [first.recipient, first.messageId]))
    for (const letter of lastRevisions(letters).filter((one) => isChosen(one, choice))) {
      const address = letter.recipient.toLowerCase()
      const recipient = known.get(address)
      const why = reasonAgainst(letter, wishes.get(address))
      if (recipient === undefined) {
        leftOut.push({ recipient: letter.recipient, why: 'the settings name them no more' })
      } else if (why !== null) {
        leftOut.push({ recipient: letter.recipient, why })
      } else {
        const firstId = firstIds.get(letter.recipient) ?? letter.messageId
        const kind = letter.state === 'sent' ? anew : again
        kind.push({ edition, letter, recipient, firstId })
      }
    }
  }
  return { again, anew, leftOut }
}

/**
 * Puts them into the ledger, all or none.
 * @param reason in the operator's words, for those who have the letter; null where none is given
 * @returns the Message-IDs of those that are now to be sent
 * @throws LeadsheetError job_busy while the report is being made; report_template, report_failed
 */
export async function enqueueResend(
  deps: MailingDeps,
  report: Report,
  plan: ResendPlan,
  reason: string | null,
): Promise<ReadonlySet<string>> {
  const lease = await claimLease(deps.store, `report:${report.name}`, deps.now)
  const packs: RevisionPack[] = []
  try {
    const at = deps.now().toISOString()
    await packAnew(packs, deps, report, plan.anew, { at, reason })
    return await deps.store.write(async (trx) => {
      await lease.renew(trx, deps.now())
      const queued = new Set<string>()
      for (const { letter } of plan.again) {
        if (await requeueLetter(trx, letter.messageId, at)) queued.add(letter.messageId)
      }
      for (const { editionId, revision, pack } of packs) {
        await enqueueLetters(trx, { editionId, revision }, pack, at)
        for (const { messageId } of pack.letters) queued.add(messageId)
      }
      return queued
    })
  } finally {
    for (const { pack } of packs) pack[Symbol.dispose]()
    await lease.release()
  }
}

const WHY_NOT = {
  pending: 'it is going to be sent',
  sending: 'it is being sent',
  data: 'it is being sent',
  withdrawn: 'they wanted no more of it',
  sent: null,
  failed: null,
  in_doubt: null,
} as const satisfies Record<Delivery['state'], string | null>

function reasonAgainst(letter: Delivery, wish: Subscription | undefined): string | null {
  return wish !== undefined && wish.state !== 'active' ? subscriptionText(wish) : WHY_NOT[letter.state]
}

function isChosen({ state, recipient }: Delivery, choice: ResendChoice): boolean {
  if (choice.which === 'one') return recipient.toLowerCase() === choice.address.toLowerCase()
  return choice.which === 'all' || state === choice.which
}

/** @param letters by recipient, and then by revision */
function lastRevisions(letters: readonly Delivery[]): Delivery[] {
  return letters.filter(({ recipient }, index) => letters[index + 1]?.recipient !== recipient)
}

interface RevisionPack {
  readonly editionId: string
  readonly revision: number
  readonly pack: LetterPack
}

async function packAnew(
  packs: RevisionPack[],
  deps: MailingDeps,
  report: Report,
  anew: readonly PlannedLetter[],
  { at, reason }: { readonly at: Instant; readonly reason: string | null },
): Promise<void> {
  for (const of of Map.groupBy(anew, ({ edition, letter }) => `${edition.id} ${letter.revision}`).values()) {
    const [first] = of
    if (first === undefined) continue
    const { edition } = first
    const revision = first.letter.revision + 1
    const pack = createLetterPack(deps.store.place)
    packs.push({ editionId: edition.id, revision, pack })
    const findContent = contentsOf(deps, report, edition)
    const resend = { at, first: edition.renderedAt, reason }
    for (const { recipient, firstId: inReplyTo } of of) {
      const content = await findContent(recipient, recipient.address, resend)
      const letter = letterFor(deps.store, edition, recipient, content, deps.sender, revision)
      addToPack(pack, { ...letter, date: at, inReplyTo })
      await new Promise(setImmediate)
    }
  }
}
