/** Sends a test alert through every configured channel, each as a check of `leadsheet doctor`. */
import { alertMailOf, channelsOf, placeOf } from '../../../app/alert-settings.ts'
import { proxyOf } from '../../../app/configured-login.ts'
import { openMail } from '../../../app/configured-mail.ts'
import { openDataToRead } from '../../../app/installation.ts'
import { attempt, type CheckResult, fail, ok } from '../../../checks/check.ts'
import type { Config } from '../../../config/config.ts'
import { type AlertMessage, NOT_STORED } from '../../../jobs/alerts/alert-message.ts'
import { postAlert } from '../../../jobs/alerts/alert-webhook.ts'
import { heartbeatUrl } from '../../../jobs/alerts/heartbeat-ping.ts'
import { openPoster, type PostOutcome } from '../../../jobs/alerts/http-post.ts'
import { alertMailsOf } from '../../../jobs/alerts/run.ts'
import { sendTest } from '../../../jobs/outbox/send-due.ts'
import type { Terminal } from '../../terminal/terminal.ts'

const MAIL = 'alert mail'
const MAIL_REMEDY = 'check mail.url (LEADSHEET_MAIL_URL), mail.from and alerts.recipients'

export async function* sendTestAlert(
  config: Config,
  { log, signal }: Pick<Terminal, 'log' | 'signal'>,
): AsyncGenerator<CheckResult> {
  const message = testMessage(config, new Date().toISOString())
  const { webhook, heartbeat } = channelsOf(config)
  const { recipients } = config.alerts
  if (recipients.length === 0 && webhook === null && heartbeat === null) {
    const remedy =
      'set alerts.recipients (LEADSHEET_ALERT_RECIPIENTS), alerts.webhook.url or alerts.heartbeat.url'
    yield fail('test alert', 'no channel is set', remedy)
  }
  const mail = await alertMailOf(config)
  if (mail !== null && config.mail.url !== null) {
    await using store = await openDataToRead(config)
    await using transport = openMail(config, await log())
    for (const sent of alertMailsOf(store, mail, message)) {
      yield await attempt(MAIL, MAIL_REMEDY, async () =>
        ok(MAIL, `${sent.to}: ${await sendTest({ transport }, sent, signal)}`),
      )
    }
  } else if (recipients.length > 0) yield fail(MAIL, 'mail.url or mail.from is not set', MAIL_REMEDY)
  await using poster = openPoster(proxyOf(config))
  if (webhook !== null) {
    const outcome = await postAlert(poster, webhook, message, signal)
    yield resultOf('alert webhook', new URL(webhook.url), outcome, 'check alerts.webhook.url')
  }
  if (heartbeat !== null) {
    // The heartbeat monitor stores what is sent to its `log` URL, but does not count it as a heartbeat.
    const url = heartbeatUrl(heartbeat.url, 'log')
    const outcome = await poster.post(url, 'text/plain', message.subject, signal)
    yield resultOf('heartbeat', url, outcome, 'check alerts.heartbeat.url')
  }
}

/** Shows only the origin of the address, because the rest of it is secret. */
function resultOf(
  what: string,
  { origin }: URL,
  { isTaken, response }: PostOutcome,
  remedy: string,
): CheckResult {
  const found = `${origin}: ${response}`
  return isTaken ? ok(what, found) : fail(what, found, remedy)
}

function testMessage(config: Config, at: string): AlertMessage {
  const line = {
    id: NOT_STORED,
    check: 'test',
    title: 'a test',
    subject: '',
    message: 'This is a test alert. Nothing is wrong.',
    hint: 'There is nothing to do.',
    since: at,
    until: null,
  }
  return {
    subject: '1 alert: a test',
    made_at: at,
    place: placeOf(config),
    opened: [line],
    reminded: [],
    resolved: [],
    open: 0,
  }
}
