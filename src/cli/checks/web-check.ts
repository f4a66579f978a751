/**
 * Checks the dashboard and the webhook of this installation. The dashboard needs a free port, and other
 * machines must not reach it without a token. The checks of the webhook cover its settings, its registration,
 * and its state at the upstream.
 */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { profileOf } from '../../app/configured-upstream.ts'
import type { CheckResult } from '../../checks/check.ts'
import { fail, ok, warn } from '../../checks/check.ts'
import type { Config } from '../../config/config.ts'
import type { ListenAddress } from '../../config/schema-web.ts'
import { dashboardAccess, eventSecrets, TOKEN_REMEDY } from '../../config/schema-web.ts'
import { isWorldReadable } from '../../config/settings-file.ts'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'
import { isSameUrl } from '../../jobs/events/register-webhook.ts'
import type { Registration, RegistrationState } from '../../jobs/events/webhook-registration.ts'
import { readState, registrationFile } from '../../jobs/events/webhook-registration.ts'
import type { Source } from '../../upstream/source.ts'
import type { WireWebhook } from '../../upstream/webhooks/registered-webhooks.ts'
import { isReadableSecret } from '../../upstream/webhooks/verify-signature.ts'
import { otherAtAddress, otherText, receiverUrl, webhookState } from '../commands/data/webhook-register.ts'
import { formatInstant } from '../terminal/table.ts'

const WHO = {
  look: 'for whoever uses this machine, to look at; with web.token things can be done there, too',
  token: 'for who knows the token',
} as const

/**
 * @param isRunning whether a daemon runs. A running daemon already listens on the port, so the port is not
 * tried.
 */
export async function checkDashboard({ web }: Pick<Config, 'web'>, isRunning: boolean): Promise<CheckResult> {
  const { listen, token } = web
  if (listen === null) return ok('dashboard', 'no pages are served: web.listen is none')
  const access = dashboardAccess({ ...web, listen, hasToken: token !== null })
  const place = `${listen.host}:${listen.port}`
  const fault = isRunning || listen.port === 0 ? null : await findListenFault(listen)
  if (fault !== null) {
    return fail(
      'dashboard',
      `${place} cannot be listened on: ${fault}`,
      'choose another web.listen (LEADSHEET_WEB_LISTEN), or end the program that has it',
    )
  }
  return access === 'closed'
    ? warn(
        'dashboard',
        `${place} can be reached from outside without a token, so that it stays closed`,
        TOKEN_REMEDY,
      )
    : ok('dashboard', `${place}, ${WHO[access]}`)
}

/* Finds out whether a port is free, by listening on it for a moment. */

const WORDS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something listens there already',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user may not',
}

/** Returns why no program can listen on the address, or null if the address is free. */
export async function findListenFault(address: ListenAddress): Promise<string | null> {
  const server = createServer()
  try {
    server.listen({ ...address, exclusive: true })
    await once(server, 'listening')
    return null
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
    return WORDS[code] ?? errorText(thrown)
  } finally {
    server.close()
  }
}

const WHAT = 'webhook'
const REGISTER = shellCommand('webhooks register --self')
const REMOVE = shellCommand('webhooks remove')

/**
 * Returns one sentence for each problem in the settings of webhooks. Sends no request to the upstream.
 * @throws LeadsheetError config_invalid if the profile is invalid
 */
export function webhookWarnings(config: Config): string[] {
  const { name, webhook } = profileOf(config)
  const hasSecret = config.events.secret !== null
  if (webhook === undefined) {
    return hasSecret ? [`events.secret is of no use: the profile ${name} has no part webhook`] : []
  }
  if (config.web.listen === null) {
    return hasSecret ? ['events.secret is of no use: web.listen is none, so that no events are taken'] : []
  }
  if (webhook.verify.scheme === 'none') {
    return [
      `the profile ${name} verifies no events (webhook.verify.scheme is none): who knows the address can have leads read`,
    ]
  }
  if (config.databaseUrl !== null && config.web.publicUrl !== null && !hasSecret) {
    return [
      'events.secret is not set: of machines that share a store, only the one that has registered a webhook by itself knows its events',
    ]
  }
  const secrets = eventSecrets(config.events.secret)
  const unfit = secrets.filter((secret) => !isReadableSecret(webhook, secret)).length
  if (unfit === 0) return []
  const which = secrets.length === 1 ? 'events.secret' : `${unfit} of the ${secrets.length} secrets of events`
  return [`${which} cannot be read as the profile ${name} says (webhook.verify), so that no message fits it`]
}

/**
 * Checks the settings of webhooks and the registered webhook. Yields nothing if neither exists.
 * @param openSource is called only if a webhook is registered
 */
export async function* checkWebhook(
  config: Config,
  openSource: () => Promise<Source>,
  signal: AbortSignal,
): AsyncGenerator<CheckResult> {
  const warnings = webhookWarnings(config)
  for (const warning of warnings) yield warn(WHAT, warning, 'fix the profile or the settings')
  const kept = readKept(config)
  if ('status' in kept) return yield kept
  const { registration, pending } = kept
  const file = registrationFile(config.dataDir)
  if (existsSync(file) && isWorldReadable(file)) {
    yield warn(
      WHAT,
      `every user of this machine can read ${file}`,
      `chmod 600 it, then ${REMOVE} and ${REGISTER}`,
    )
  }
  if (pending !== null) {
    const found = `asked to register at ${formatInstant(pending.at)}, and not known to be done`
    yield warn(WHAT, found, `${REGISTER} finishes it`)
  }
  if (registration !== null) {
    yield checkAddress(config, registration) ?? (await checkAtUpstream(registration, openSource, signal))
  } else if (config.events.secret !== null && warnings.length === 0) {
    const secrets = eventSecrets(config.events.secret).length
    yield ok(WHAT, `registered by hand: ${secrets === 1 ? 'its secret is' : `${secrets} secrets are`} set`)
  }
}

function readKept({ dataDir }: Config): RegistrationState | CheckResult {
  try {
    return readState(registrationFile(dataDir))
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    return fail(WHAT, thrown.message, thrown.hint ?? REGISTER)
  }
}

/** Returns a warning if the address of the registered webhook differs from the settings, otherwise null. */
function checkAddress(config: Config, { url }: Registration): CheckResult | null {
  const wanted = receiverUrl(config)
  if (wanted === null) {
    return warn(WHAT, `${url} is registered, but web.public_url is not set`, `set it, or ${REMOVE}`)
  }
  if (isSameUrl(wanted, url)) return null
  return warn(WHAT, `${url} is registered, but web.public_url says ${wanted}`, `${REGISTER} registers that`)
}

async function checkAtUpstream(
  own: Registration,
  openSource: () => Promise<Source>,
  signal: AbortSignal,
): Promise<CheckResult> {
  const source = await openSource()
  try {
    return judge(own, await source.webhooks.list(signal))
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || thrown.code === 'run_interrupted') throw thrown
    const what = `${own.id}, registered at ${formatInstant(own.registeredAt)}`
    return thrown.code === 'api_not_found'
      ? ok(WHAT, `${what}; the upstream does not tell how it stands`)
      : warn(WHAT, `${what}; how it stands cannot be asked: ${thrown.message}`, thrown.hint ?? REGISTER)
  } finally {
    await source.close()
  }
}

function judge(own: Registration, webhooks: readonly WireWebhook[]): CheckResult {
  const found = webhooks.find(({ id }) => id === own.id)
  if (found === undefined)
    return warn(WHAT, `the upstream does not know ${own.id} any more`, `${REGISTER} anew`)
  const stands = `${own.id} is ${webhookState(found)}`
  if (found.status === 'disabled') {
    return warn(WHAT, stands, `fix the way to it, then ${REGISTER}; until then syncs bring changes`)
  }
  if (!isSameUrl(found.url, own.url)) {
    return warn(WHAT, `${own.id} sends to ${found.url}, not to ${own.url}`, `${REMOVE}, then register`)
  }
  const other = otherAtAddress(webhooks, own)
  if (other !== undefined) return warn(WHAT, otherText(other), shellCommand(`webhooks remove ${other.id}`))
  return found.failing_since === null
    ? ok(WHAT, `${stands}, at ${own.url}`)
    : warn(WHAT, stands, `${REGISTER} tries the way to it`)
}
