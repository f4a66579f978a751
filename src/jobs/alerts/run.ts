/**
 * Runs the checks each minute, and opens and resolves alerts. Writes the announcements to the outbox and to
 * the webhook's queue in one transaction. The announcements are sent later.
 */

import { type Installation, type Knowledge, readFacts } from '../../checks/check.ts'
import { alertFacts, findForAlerts } from '../../checks/run-checks.ts'
import type { Message } from '../../domain/message.ts'
import type { Instant } from '../../domain/model.ts'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Transport } from '../../mail/transport.ts'
import type { RenderAlert } from '../../report/render/alert-mail.ts'
import {
  type Alert,
  deleteAlerts,
  deleteAlertsBefore,
  findNextAlertId,
  listUnsettledAlerts,
  markAcknowledged,
  upsertAlerts,
} from '../../store/alerts/alert.ts'
import {
  deleteMessagesBefore,
  insertAlertMessage,
  listMessageTimes,
} from '../../store/alerts/alert-message.ts'
import type { Store } from '../../store/db/store.ts'
import { enqueueMessage } from '../../store/outbox/delivery.ts'
import type { JobDeps } from '../job-deps.ts'
import { messageFor } from '../outbox/compose-message.ts'
import { logFailure } from '../schedule/job-failure.ts'
import { type AlertMessage, alertMailView, composeAlertMessage, NOT_STORED } from './alert-message.ts'
import { decide, GAPS_COUNT_MS, REOPEN_MS } from './alert-state.ts'
import { type AlertWebhook, postAlert, postDueAlerts } from './alert-webhook.ts'
import { type HeartbeatMonitor, heartbeatUrl, pingHeartbeatMonitor } from './heartbeat-ping.ts'
import type { PostOutcome } from './http-post.ts'

const RETENTION_MS = 90 * 24 * 60 * 60_000
/** The longest time for mails without the database, because the daemon waits for them. */
const MAIL_WITHIN_MS = 20_000

interface AlertSettings {
  readonly mail: AlertMailSettings | null
  readonly hasWebhook: boolean
  readonly place: string
}

export interface AlertMailSettings {
  readonly recipients: readonly string[]
  readonly from: string
  readonly replyTo: string | null
  readonly render: RenderAlert
}

export interface AlertDeps extends JobDeps {
  readonly installation: Installation
  readonly knowledge: Knowledge
  readonly alerts: AlertSettings
}

/** @param onMessages called if alert messages wait in the outbox */
export async function runAlerts(
  deps: AlertDeps & AlertWebhook & HeartbeatMonitor,
  onMessages: () => void,
  signal: AbortSignal,
): Promise<void> {
  if ((await updateAlerts(deps)) !== null) onMessages()
  await postDueAlerts(deps, signal)
  await pingHeartbeatMonitor(deps, signal)
}

/** Returns the message that announces the changes; null if there is nothing to announce. */
export async function updateAlerts(deps: AlertDeps): Promise<AlertMessage | null> {
  const { store, log, alerts: settings } = deps
  const now = deps.now()
  const facts = readFacts(deps.installation, { ...deps.knowledge, isDaemon: true }, now)
  const found = await findForAlerts(facts, (thrown, check) => logFailure(log, thrown, { check }))
  const alerts = await listUnsettledAlerts(store.db, before(now, REOPEN_MS))
  const known = {
    alerts,
    nextId: await findNextAlertId(store.db),
    messagesAt: await listMessageTimes(store.db, before(now, GAPS_COUNT_MS)),
  }
  const { changed, dropped, announcement } = decide(found, known, now)
  if (changed.length + dropped.length === 0) return null
  const at = now.toISOString()
  const after = new Map([...alerts, ...changed].map((alert) => [alert.id, alert.state]))
  const open = [...after.values()].filter((state) => state === 'open').length
  const message = announcement && composeAlertMessage(announcement, open, settings.place, at)
  const mails = message && settings.mail ? alertMailsOf(store, settings.mail, message) : []
  await store.write(async (trx) => {
    await upsertAlerts(trx, changed)
    await deleteAlerts(trx, dropped)
    if (message === null) return
    const content = JSON.stringify(message)
    await insertAlertMessage(trx, { madeAt: at, content, hasWebhook: settings.hasWebhook })
    for (const mail of mails) await enqueueMessage(trx, null, mail, at)
    await deleteAlertsBefore(trx, before(now, RETENTION_MS))
    await deleteMessagesBefore(trx, before(now, RETENTION_MS))
  })
  if (message !== null) logMessage(log, message)
  return message
}

/**
 * Tells operators of a fault of the database by the webhook, the heartbeat monitor and mail. Stored alerts and
 * the outbox would need the database.
 * @param transport sends the mails at once, and only once; null sends none
 * @returns whether the webhook and the heartbeat monitor took it
 */
export async function alertWithoutStore(
  { webhook, heartbeat, poster, log, store, ...deps }: WithoutStore,
  { message, hint = '' }: LeadsheetError,
  transport: Pick<Transport, 'send'> | null,
  signal: AbortSignal,
): Promise<boolean> {
  const at = deps.now().toISOString()
  const check = 'database_unwritable'
  const { title } = alertFacts(check)
  const line = { id: NOT_STORED, check, title, subject: '', message, hint, since: at, until: null }
  const told: AlertMessage = {
    subject: `1 alert: ${title}`,
    made_at: at,
    place: deps.alerts.place,
    opened: [line],
    reminded: [],
    resolved: [],
    open: 1,
  }
  const outcomes: PostOutcome[] = []
  if (webhook !== null) outcomes.push(await postAlert(poster, webhook, told, signal))
  if (heartbeat !== null) {
    const url = heartbeatUrl(heartbeat.url, 'fail')
    outcomes.push(await poster.post(url, 'text/plain', message, signal))
  }
  const refused = outcomes.filter(({ isTaken }) => !isTaken)
  for (const { response } of refused) log.warn({ response }, 'alert about the database failed')
  const { mail } = deps.alerts
  const within = AbortSignal.any([signal, AbortSignal.timeout(MAIL_WITHIN_MS)])
  for (const each of (transport && mail && alertMailsOf(store, mail, told)) ?? []) {
    await transport?.send(each, { signal: within }).catch((thrown: unknown) => {
      log.warn({ to: each.to, response: errorText(thrown) }, 'alert about the database failed')
    })
  }
  return refused.length === 0
}

type WithoutStore = Omit<AlertDeps & AlertWebhook & HeartbeatMonitor, 'store'> & {
  readonly store: Pick<Store, 'installationId'>
}

export function alertMailsOf(
  store: Pick<Store, 'installationId'>,
  { recipients, from, replyTo, render }: AlertMailSettings,
  message: AlertMessage,
): Message[] {
  const content = { ...render(alertMailView(message)), lang: 'en', files: [], notAttached: '' }
  const { made_at: renderedAt } = message
  const about = { report: REPORT, period: { from: renderedAt, to: renderedAt }, renderedAt }
  const sender = { from, replyTo, unsubscribe: { mailto: replyTo ?? from, pageOf: null } }
  return recipients.map((address) => messageFor(store, about, { address, name: null }, content, sender))
}

const REPORT = 'alerts'

/**
 * Acknowledges an open alert, which ends its reminders.
 * @throws LeadsheetError usage_invalid if no open alert has that number
 */
export async function acknowledgeAlert(store: Store, id: number, now: Date): Promise<Alert> {
  const alert = await store.write((trx) => markAcknowledged(trx, id, now.toISOString()))
  if (alert !== undefined) return alert
  throw new LeadsheetError('usage_invalid', `alert: found ${id}, expected the number of an open alert`, {
    hint: `${shellCommand('alerts list')} lists them.`,
  })
}

function logMessage(log: Log, { opened, reminded, resolved }: AlertMessage): void {
  for (const { id, check, subject, message, hint } of [...opened, ...reminded]) {
    log.warn({ alert: id, check, subject, hint }, message)
  }
  for (const { id, check, subject } of resolved) log.info({ alert: id, check, subject }, 'alert resolved')
}

function before(now: Date, ms: number): Instant {
  return new Date(now.getTime() - ms).toISOString()
}
