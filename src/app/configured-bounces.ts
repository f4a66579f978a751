/** Turns the settings of the mailbox of bounces into what the jobs need. */
import type { Config } from '../config/config.ts'
import type { NotificationDeps } from '../jobs/outbox/apply-notification.ts'
import type { BouncesDeps, ProviderDeps } from '../jobs/outbox/read-bounces.ts'
import type { Log } from '../log.ts'
import { type Mailbox, openMailbox } from '../mail/mailbox.ts'
import type { Templates } from '../report/render/templates.ts'
import { openOAuthOf } from './configured-login.ts'
import { reportOf } from './configured-reports.ts'

type Deps = Pick<NotificationDeps, 'store' | 'sender' | 'log' | 'now'>

/** Null if the settings name no mailbox. */
export function openBounces(config: Config, deps: Deps, templates: Templates): BouncesDeps | null {
  const { url, address } = config.mail.bounces
  if (url === null) return null
  return {
    ...providerDepsOf(config, deps, templates),
    returnAddress: address,
    openMailbox: () => openConfiguredMailbox(config, url.reveal(), deps.log),
  }
}

/** Opens a mailbox with the login of the mailbox of bounces. The caller closes it. */
export function openConfiguredMailbox(
  config: Pick<Config, 'mail' | 'dataDir' | 'proxy'>,
  url: string,
  log: Log,
): Mailbox {
  const { oauth, bounces } = config.mail
  const { protocol, password } = new URL(url)
  if (protocol === 'file:' || password !== '') return openMailbox(url)
  const tokens =
    bounces.oauth === null
      ? oauth && openOAuthOf('mail.oauth', oauth, config, log)
      : openOAuthOf('mail.bounces.oauth', bounces.oauth, config, log)
  return openMailbox(url, tokens)
}

export function providerDepsOf(
  config: Config,
  { store, sender, log, now }: Deps,
  templates: Templates,
): ProviderDeps {
  return {
    store,
    sender,
    log,
    now,
    reports: config.reports.map((settings) => reportOf(settings, config, templates)),
    reader: config,
    suppressAfterBounces: config.mail.suppressAfterBounces,
  }
}
