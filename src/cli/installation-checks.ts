/**
 * The checks of `leadsheet doctor` that need the network, a port or the settings. All other checks are rows of
 * the table in `src/checks`. `init`, `config check` and `service` use some of these checks too.
 */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { openConfiguredMailbox } from '../app/configured-bounces.ts'
import { openOAuthOf, tryKeys } from '../app/configured-login.ts'
import { openMail, senderOf } from '../app/configured-mail.ts'
import { profileOf } from '../app/configured-upstream.ts'
import { attempt, type CheckResult, fail, ok, warn } from '../checks/check.ts'
import type { Config } from '../config/config.ts'
import { dashboardAccess, eventSecrets, type ListenAddress, TOKEN_REMEDY } from '../config/schema-web.ts'
import { isWorldReadable } from '../config/settings-file.ts'
import { errorText, LeadsheetError, shellCommand } from '../errors.ts'
import { isSameUrl } from '../jobs/events/register-webhook.ts'
import { type Registration, readRegistration, registrationFile } from '../jobs/events/webhook-registration.ts'
import type { Log } from '../log.ts'
import { adviceFor } from '../mail/advice.ts'
import { type DkimKey, dnsRecordOf } from '../mail/message.ts'
import { BACKOFF } from '../retry.ts'
import { readServerFacts } from '../store/db/postgres.ts'
import type { Db } from '../store/db/store.ts'
import { formatSpan } from '../time.ts'
import type { Source } from '../upstream/source.ts'
import { isReadableSecret } from '../upstream/webhooks/verify-signature.ts'
import { receiverUrl, webhookState } from './commands/data/webhook-register.ts'
import type { AskDns } from './deliverability/spf.ts'

/**
 * Checks the connection and login to a mail server: first whether there is an access token if the login needs one,
 * then whether the server takes it. No message is sent.
 */
export async function* checkMailServer(
  config: Parameters<typeof openMail>[0],
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): AsyncGenerator<CheckResult> {
  const { oauth } = config.mail
  if (oauth !== null) {
    const login = await attempt('mail login', 'see docs/how-to/send-mail.md', async () => {
      const keys = openOAuthOf('mail.oauth', oauth, config, log, BACKOFF.upstreamWhileWaiting)
      return ok('mail login', (await tryKeys(keys, signal)) ?? '')
    })
    yield { ...login, remedy: adviceFor(login.found) ?? login.remedy }
    if (login.status !== 'ok') return
  }
  yield await attempt('mail', 'check mail.url (LEADSHEET_MAIL_URL)', async () => {
    await using transport = openMail(config, log)
    return ok('mail', `${transport.name} ${await transport.verify(signal)}`)
  })
}

/** Tries the mailbox of bounces, if there is one. */
export async function* checkMailbox(
  config: Parameters<typeof openMail>[0],
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): AsyncGenerator<CheckResult> {
  const { url } = config.mail.bounces
  if (url === null) return
  yield await attempt('bounces', 'check mail.bounces.url (LEADSHEET_MAIL_BOUNCES_URL)', async () => {
    await using mailbox = openConfiguredMailbox(config, url.reveal(), log)
    await mailbox.position(signal)
    return ok('bounces', `${mailbox.name} can be read`)
  })
}

/**
 * Checks that the DNS has the DKIM key that receivers need to verify the signatures of mails. Throws what `AskDns`
 * throws.
 */
export async function checkSignature(key: DkimKey, ask: AskDns): Promise<CheckResult> {
  const { name, text } = dnsRecordOf(key)
  const remedy = `publish this TXT record at ${name}: ${text}`
  const records = await ask(name)
  if (records.length === 0) return fail('signature', `the DNS has nothing at ${name}`, remedy)
  return records.some((record) => publicKeyIn(record) === publicKeyIn(text))
    ? ok('signature', `${name} has the key`)
    : fail('signature', `${name} has another key than mail.dkim`, remedy)
}

/** Returns the public key (`p`) of a DKIM record, without spaces (RFC 6376, section 3.6.1, ignores them). */
function publicKeyIn(record: string): string | undefined {
  return /(?:^|;)\s*p\s*=([^;]*)/.exec(record)?.[1]?.replace(/\s/g, '')
}

/** Checks how recipients can unsubscribe, best by one click (RFC 8058). Nothing is sent. */
export function checkUnsubscribe({ web, mail }: Pick<Config, 'web' | 'mail'>): CheckResult {
  const { publicUrl, listen } = web
  if (publicUrl === null) {
    return ok(
      'unsubscribing',
      `by a mail to ${senderOf(mail, null).unsubscribe.mailto}; the one click that Gmail and Yahoo want of those who send much needs web.public_url`,
    )
  }
  if (publicUrl.startsWith('http:')) {
    return warn(
      'unsubscribing',
      `${publicUrl} is only for this machine, so that mail programs show no button for it`,
      'set web.public_url to an https:// address that recipients reach',
    )
  }
  if (listen === null) {
    return fail(
      'unsubscribing',
      `mails lead to ${publicUrl}, but web.listen is none: no pages are served`,
      'give web.listen an address, or take web.public_url away',
    )
  }
  const signed =
    mail.dkim === null ? ', if the mail server signs List-Unsubscribe and List-Unsubscribe-Post' : ''
  const place = `${publicUrl}, which has to lead to ${listen.host}:${listen.port}`
  return ok('unsubscribing', `by one click${signed}, at ${place}`)
}

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

// The oldest major version of PostgreSQL that leadsheet is tested with.
const MAJOR_LEAST = 14
// The maximum difference between the clocks of this machine and of the server. Daemons on different machines
// share locks and scheduled runs, so all clocks must nearly agree.
const CLOCK_APART_MAX_MS = 5_000
const UTF8 = 'UTF8'

/** Checks a PostgreSQL server: its version, encoding and clock. */
export async function* checkPostgres(db: Db): AsyncGenerator<CheckResult> {
  const askedAtMs = Date.now()
  const { version, major, encoding, nowMs } = await readServerFacts(db)
  // The server read its clock about half-way between the request and the answer.
  const aheadMs = (askedAtMs + Date.now()) / 2 - nowMs
  const found = `PostgreSQL ${version}, ${encoding}`
  if (encoding !== UTF8)
    yield fail('server', found, `make a database WITH ENCODING '${UTF8}', and name that in database_url`)
  else if (major < MAJOR_LEAST)
    yield warn('server', found, `leadsheet is tried with PostgreSQL ${MAJOR_LEAST} and later`)
  else yield ok('server', found)
  if (Math.abs(aheadMs) > CLOCK_APART_MAX_MS) {
    const clock = `${formatSpan(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the database`
    yield warn('database clock', `our clock is ${clock}`, 'let all machines set their clocks by NTP')
  }
}

const WHAT = 'webhook'
const REGISTER = shellCommand('webhooks register --self')

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
  for (const warning of webhookWarnings(config)) yield warn(WHAT, warning, 'fix the profile or the settings')
  const file = registrationFile(config.dataDir)
  if (existsSync(file) && isWorldReadable(file))
    yield warn(WHAT, `every user of this machine can read ${file}`, `chmod 600 it, then ${REGISTER}`)
  const registered = await attempt(WHAT, REGISTER, async () => {
    const registration = readRegistration(file)
    if (registration === null) return ok(WHAT, 'none is registered')
    return checkAddress(config, registration) ?? (await checkAtUpstream(registration, openSource, signal))
  })
  if (existsSync(file)) yield registered
}

/** Returns a warning if the address of the registered webhook differs from the settings, otherwise null. */
function checkAddress(config: Config, { url }: Registration): CheckResult | null {
  const wanted = receiverUrl(config)
  if (wanted !== null && isSameUrl(wanted, url)) return null
  const found = wanted === null ? 'web.public_url is not set' : `web.public_url says ${wanted}`
  return warn(WHAT, `${url} is registered, but ${found}`, `set it, then ${REGISTER}`)
}

async function checkAtUpstream(
  own: Registration,
  openSource: () => Promise<Source>,
  signal: AbortSignal,
): Promise<CheckResult> {
  const source = await openSource()
  try {
    const found = (await source.webhooks.list(signal)).find(({ id }) => id === own.id)
    if (found === undefined)
      return warn(WHAT, `the upstream does not know ${own.id} any more`, `${REGISTER} anew`)
    const stands = `${own.id} is ${webhookState(found)}`
    return found.status === 'disabled' || found.failing_since !== null
      ? warn(WHAT, stands, `fix the way to ${own.url}; until then syncs bring changes`)
      : ok(WHAT, `${stands}, at ${own.url}`)
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || thrown.code !== 'api_not_found') throw thrown
    return ok(WHAT, `${own.id} is registered; the upstream does not tell how it stands`)
  } finally {
    await source.close()
  }
}
