/** `leadsheet alerts test`: one message each way that the settings name, and what the far side says. */

import { dkimOf } from '../../../app/configured-mail.ts'
import { openDataIfThere } from '../../../app/installation.ts'
import { channelsOf, mailedOperators, placeOf } from '../../../app/operators.ts'
import type { Config } from '../../../config/config.ts'
import { LeadsheetError } from '../../../errors.ts'
import { messagesOf } from '../../../jobs/notify-operators.ts'
import { sendTest } from '../../../jobs/outbox/send-due.ts'
import { postMessage } from '../../../jobs/post-notices.ts'
import { openTransport } from '../../../mail/transport.ts'
import type { NoticeMessage } from '../../../notify/message.ts'
import { pingUrl } from '../../../notify/ping.ts'
import { openPoster } from '../../../notify/post.ts'
import type { Terminal } from '../../terminal/terminal.ts'

interface Tried {
  /** `mail`, `webhook` or `ping`. */
  readonly channel: string
  /** Of a mail the address; of the others only where they are, for the rest is secret. */
  readonly to: string
  readonly isTaken: boolean
  readonly said: string
}

/** @throws LeadsheetError config_missing where the settings name no way */
export async function testChannels(terminal: Terminal): Promise<void> {
  const config = await terminal.config()
  const { alerts } = config
  if (alerts.recipients.length === 0 && alerts.webhook === null && alerts.heartbeat === null) {
    throw new LeadsheetError('config_missing', 'Nobody is told of troubles', {
      hint: 'Set alerts.recipients (LEADSHEET_ALERT_RECIPIENTS), alerts.webhook.url or alerts.heartbeat.url.',
    })
  }
  const tried: Tried[] = []
  for await (const one of tryAll(terminal, config)) {
    tried.push(one)
    if (terminal.json) continue
    const mark = terminal.style(one.isTaken ? 'green' : 'red', one.isTaken ? 'ok  ' : 'fail')
    terminal.print(`${mark}  ${one.channel.padEnd(7)}  ${one.to}: ${one.said}`)
  }
  if (terminal.json) terminal.printJson(tried.map(triedJson))
  if (tried.some(({ isTaken }) => !isTaken)) terminal.end('failed')
}

function triedJson({ channel, to, isTaken, said }: Tried) {
  return { channel, to, taken: isTaken, response: said }
}

async function* tryAll(terminal: Terminal, config: Config): AsyncGenerator<Tried> {
  const alertMessage = testMessage(config, new Date().toISOString())
  yield* tryMail(terminal, config, alertMessage)
  await using poster = openPoster()
  const { webhook, ping } = channelsOf(config)
  const { signal } = terminal
  if (webhook !== null) {
    const outcome = await postMessage(poster, webhook, alertMessage, signal)
    yield { channel: 'webhook', to: new URL(webhook.url).origin, ...outcome }
  }
  if (ping !== null) {
    // Kept by the switch without resetting it.
    const url = pingUrl(ping.url, 'log', alertMessage.made_at)
    yield {
      channel: 'ping',
      to: url.origin,
      ...(await poster.post(url, 'text/plain', alertMessage.subject, signal)),
    }
  }
}

async function* tryMail(
  terminal: Terminal,
  config: Config,
  alertMessage: NoticeMessage,
): AsyncGenerator<Tried> {
  const { recipients } = config.alerts
  const mail = await mailedOperators(config)
  if (mail === null || config.smtp.url === null) {
    const said = 'smtp.url or mail.from is not set'
    for (const to of recipients) yield { channel: 'mail', to, isTaken: false, said }
    return
  }
  await using store = await openDataIfThere(config)
  const log = await terminal.log()
  await using transport = openTransport(config.smtp.url.reveal(), { log, dkim: dkimOf(config.mail) })
  for (const message of messagesOf(store, mail, alertMessage)) {
    const outcome = await sendTest({ transport }, message, terminal.signal).then(
      (said) => ({ isTaken: true, said }),
      (thrown: unknown) => {
        if (!(thrown instanceof LeadsheetError)) throw thrown
        return { isTaken: false, said: thrown.message }
      },
    )
    yield { channel: 'mail', to: message.to, ...outcome }
  }
}

function testMessage(config: Config, at: string): NoticeMessage {
  const line = {
    ...{ id: 0, reason: 'test', title: 'a test', subject: '' },
    message: 'This is how leadsheet tells you of a trouble. Nothing is wrong.',
    hint: 'Nothing is to be done.',
    ...{ since: at, until: null },
  }
  return {
    ...{ subject: '1 trouble: a test', made_at: at, place: placeOf(config) },
    ...{ raised: [line], reminded: [], recovered: [], open: 0 },
  }
}
