/**
 * Sends messages again at an operator's request. A failed or unconfirmed message is sent again under its old
 * Message-ID. If the message was delivered, the recipient gets a new message, which replaces the first
 * message and says so.
 */
import type { Instant } from '../../domain/model.ts'
import { type Delivery, enqueueMessages, listDeliveries } from '../../store/outbox/delivery.ts'
import { requeueMessage } from '../../store/outbox/message-resolve.ts'
import { addToPack, createMessagePack, type MessagePack } from '../../store/outbox/stored-message.ts'
import { type Issue, listLastEnqueued } from '../../store/reports/issue.ts'
import { listPreferences, type Preference } from '../../store/reports/preference.ts'
import { withLease } from '../../store/schedule/lease.ts'
import { messageFor } from '../outbox/compose-message.ts'
import type { ReportDeps } from './enqueue-report.ts'
import { preferenceText } from './preferences.ts'
import { contentsOf } from './report-content.ts'
import type { Recipient, Report } from './report-definition.ts'

export type ResendChoice =
  | { readonly which: 'failed' | 'unconfirmed' | 'all' }
  | { readonly which: 'one'; readonly address: string }

interface PlannedMessage {
  readonly issue: Issue
  readonly message: Delivery
  readonly recipient: Recipient
  readonly firstId: string
}

export interface ResendPlan {
  readonly again: readonly PlannedMessage[]
  readonly anew: readonly PlannedMessage[]
  readonly leftOut: readonly LeftOut[]
}

interface LeftOut {
  readonly recipient: string
  readonly why: string
}

/**
 * Plans which messages of a report's last enqueued issues are sent again.
 * @param recipients the recipients in the settings
 * @param by only issues whose period ended at or before this time are considered
 */
export async function planResend(
  { store }: Pick<ReportDeps, 'store'>,
  report: Report,
  recipients: readonly Recipient[],
  choice: ResendChoice,
  by: Date,
): Promise<ResendPlan> {
  const known = new Map(recipients.map((one) => [one.address.toLowerCase(), one]))
  const choices = new Map((await listPreferences(store.db, report.name)).map((one) => [one.address, one]))
  const again: PlannedMessage[] = []
  const anew: PlannedMessage[] = []
  const leftOut: LeftOut[] = []
  for (const issue of await listLastEnqueued(store.db, report.name, by.toISOString())) {
    const messages = await listDeliveries(store.db, issue.id)
    const firsts = messages.filter(({ revision }) => revision === 0)
    const firstIds = new Map(firsts.map((first) => [first.recipient, first.messageId]))
    for (const message of lastRevisions(messages).filter((one) => isChosen(one, choice))) {
      const address = message.recipient.toLowerCase()
      const recipient = known.get(address)
      const why = reasonAgainst(message, choices.get(address))
      if (recipient === undefined) {
        leftOut.push({ recipient: message.recipient, why: 'the settings name them no more' })
      } else if (why !== null) {
        leftOut.push({ recipient: message.recipient, why })
      } else {
        const firstId = firstIds.get(message.recipient) ?? message.messageId
        const kind = message.state === 'sent' ? anew : again
        kind.push({ issue, message, recipient, firstId })
      }
    }
  }
  return { again, anew, leftOut }
}

/**
 * Writes the planned messages to the outbox, either all or none.
 * @param reason the operator's text to recipients who already have the message; null if there is none
 * @returns the Message-IDs of the messages to be sent
 * @throws LeadsheetError job_busy while the report is being made; report_template, report_failed
 */
export async function enqueueResend(
  deps: ReportDeps,
  report: Report,
  plan: ResendPlan,
  reason: string | null,
): Promise<ReadonlySet<string>> {
  return withLease(deps.store, `report:${report.name}`, deps.now, async (lease) => {
    const at = deps.now().toISOString()
    const packs: RevisionPack[] = []
    await packAnew(packs, deps, report, plan.anew, { at, reason })
    return deps.store.write(async (trx) => {
      await lease.renew(trx, deps.now())
      const queued = new Set<string>()
      for (const { message } of plan.again) {
        if (await requeueMessage(trx, message.messageId, at)) queued.add(message.messageId)
      }
      for (const { issueId, revision, pack } of packs) {
        await enqueueMessages(trx, { issueId, revision }, pack, at)
        for (const { messageId } of pack.messages) queued.add(messageId)
      }
      return queued
    })
  })
}

const WHY_NOT = {
  pending: 'it waits to be sent',
  sending: 'it is being sent',
  data: 'it is being sent',
  withdrawn: null,
  sent: null,
  failed: null,
  unconfirmed: null,
  bounced: null,
  complained: 'its recipient reported it as spam',
} as const satisfies Record<Delivery['state'], string | null>

function reasonAgainst(message: Delivery, choice: Preference | undefined): string | null {
  return choice !== undefined && choice.state !== 'active' ? preferenceText(choice) : WHY_NOT[message.state]
}

function isChosen({ state, recipient }: Delivery, choice: ResendChoice): boolean {
  if (choice.which === 'one') return recipient.toLowerCase() === choice.address.toLowerCase()
  // A message that came back is like one that was refused: nobody has it, whether for good or for now.
  const isLost = choice.which === 'failed' && state === 'bounced'
  return choice.which === 'all' || state === choice.which || isLost
}

/** @param messages sorted by recipient, then by revision */
function lastRevisions(messages: readonly Delivery[]): Delivery[] {
  return messages.filter(({ recipient }, index) => messages[index + 1]?.recipient !== recipient)
}

interface RevisionPack {
  readonly issueId: string
  readonly revision: number
  readonly pack: MessagePack
}

async function packAnew(
  packs: RevisionPack[],
  deps: ReportDeps,
  report: Report,
  anew: readonly PlannedMessage[],
  { at, reason }: { readonly at: Instant; readonly reason: string | null },
): Promise<void> {
  for (const of of Map.groupBy(anew, ({ issue, message }) => `${issue.id} ${message.revision}`).values()) {
    const [first] = of
    if (first === undefined) continue
    const { issue } = first
    const revision = first.message.revision + 1
    const pack = createMessagePack()
    packs.push({ issueId: issue.id, revision, pack })
    const findContent = contentsOf(deps, report, issue)
    const resend = { at, first: issue.renderedAt, reason }
    for (const { recipient, firstId: inReplyTo } of of) {
      const content = await findContent(recipient, recipient.address, resend)
      const message = messageFor(deps.store, issue, recipient, content, deps.sender, revision)
      addToPack(pack, { ...message, date: at, inReplyTo })
      await new Promise(setImmediate)
    }
  }
}
