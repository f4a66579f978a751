/**
 * Tries the answers of `leadsheet init` (the service, the mail server and the port of the dashboard), and
 * sends the test mail.
 */

import { randomUUID } from 'node:crypto'
import { placeOf } from '../../app/alert-settings.ts'
import { openMail } from '../../app/configured-mail.ts'
import { ownFolder } from '../../app/configured-reports.ts'
import { schedulesOf } from '../../app/configured-schedules.ts'
import { profileFrom } from '../../app/configured-upstream.ts'
import { TEMPLATES } from '../../app/installation.ts'
import type { CheckResult } from '../../checks/check.ts'
import { attempt, fail, ok, warn } from '../../checks/check.ts'
import { checkUpstream } from '../../checks/upstream.ts'
import type { Config } from '../../config/config.ts'
import { requireMail } from '../../config/config.ts'
import { listenAddress } from '../../config/schema-web.ts'
import type { ProfileData } from '../../config/settings-file.ts'
import type { Message } from '../../domain/message.ts'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { messageId } from '../../mail/message.ts'
import { openAsker } from '../../probe/ask.ts'
import type { ProbeResult } from '../../probe/probe.ts'
import { probe } from '../../probe/probe.ts'
import type { ProxySettings } from '../../proxy.ts'
import { redactor } from '../../redaction.ts'
import { openAlertMail } from '../../report/render/alert-mail.ts'
import { BACKOFF } from '../../retry.ts'
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import { openSource } from '../../upstream/source.ts'
import { checkMailServer, findListenFault } from '../installation-checks.ts'
import { localTime } from '../terminal/table.ts'

export interface TrialDeps {
  readonly log: Log
  readonly signal: AbortSignal
  readonly proxy?: ProxySettings
}

export interface Service {
  readonly url: string
  /** The API key; empty if the service needs no key. */
  readonly key: string
  /** The variable or the file that holds the key; null if the user typed it. */
  readonly keyPlace: string | null
  /** The settings that describe the service's API (profile); null for those of the reference service. */
  readonly profile: ProfileData | null
}

// The wait is short, because a person is waiting for the answer.
const WAIT_MS = 5_000

/**
 * Runs the upstream checks of `leadsheet doctor`. If an error prevents the checks, returns the error as a
 * failed check.
 * @returns the checks. `answers` is true if the service answered at all. Only then does a probe make sense.
 */
export async function tryService(
  { url, key, keyPlace, profile }: Service,
  { log, signal, proxy }: TrialDeps,
): Promise<{ checks: readonly CheckResult[]; answers: boolean }> {
  const redact = redactor([key])
  try {
    await using opened = new AsyncDisposableStack()
    const source = openSource({
      ...{ baseUrl: url, apiKey: key, maxWaitMs: WAIT_MS, log, backoff: BACKOFF.upstreamWhileWaiting },
      profile: profileFrom(profile),
      proxy,
    })
    opened.defer(() => source.close())
    await source.listLeads({}, null, 1, { signal })
    const checks: CheckResult[] = []
    for await (const check of checkUpstream(source, signal))
      checks.push({ ...check, found: redact(check.found) })
    return { checks, answers: true }
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || thrown.code === 'run_interrupted') throw thrown
    const isRefusedKey = thrown.code === 'api_unauthorized' && keyPlace !== null
    const remedy = isRefusedKey
      ? `Check the key in ${keyPlace}, and how the profile sends it (auth).`
      : (thrown.hint ?? 'check the address and the key')
    return {
      checks: [fail('service', redact(thrown.message), remedy)],
      answers: /^api_(unauthorized|forbidden|not_found|rejected|unexpected)$/.test(thrown.code),
    }
  }
}

/** @throws LeadsheetError api_unreachable, api_deferred */
export async function probeService(
  { url, key }: Pick<Service, 'url' | 'key'>,
  onStep: (step: string) => void,
  { log, signal, proxy }: TrialDeps,
): Promise<ProbeResult> {
  await using asker = openAsker({ apiKey: key, maxWaitMs: WAIT_MS, log, signal, proxy })
  return await probe(asker, { base: new URL(url), path: null, key, onStep })
}

/** Checks the mail server. A folder needs no check, because it is made for the first message. */
export async function tryMail(url: string, deps: TrialDeps): Promise<CheckResult> {
  if (url.startsWith('file:')) return ok('mail', 'a folder takes the mails')
  return checkMailServer(url, 'check the address, the user and the password', deps)
}

export async function tryListen(listen: string): Promise<CheckResult> {
  const address = listenAddress(listen)
  if (address === null) return ok('dashboard', 'none is wanted')
  const fault = await findListenFault(address)
  return fault === null
    ? ok('dashboard', `${listen} is free`)
    : warn('dashboard', `cannot listen at ${listen}: ${fault}`, 'take another address')
}

// The name in the headers of the test mail, instead of the name of a report.
const REPORT = 'test'

export async function sendTestMail(
  config: Config,
  to: string,
  { log, signal }: TrialDeps,
): Promise<CheckResult> {
  return attempt('test mail', 'check smtp.url and mail.from', async () => {
    await using transport = openMail(requireMail(config), log)
    const { response } = await transport.send(await composeTestMail(config, to, new Date()), { signal })
    return ok('test mail', `${to}: ${response}`)
  })
}

async function composeTestMail(config: Config, to: string, now: Date): Promise<Message> {
  const { from, replyTo } = requireMail(config)
  const render = await openAlertMail(TEMPLATES, ownFolder(config))
  const date = now.toISOString()
  const content = render({
    title: 'This mail got through',
    place: placeOf(config),
    sections: [{ title: 'What comes next', isGood: true, lines: linesOf(config, now), more: null }],
    footer: [`You get this because ${shellCommand('init')} was asked to try the mail server.`],
  })
  const period = { from: date, to: date }
  const identity = { installationId: randomUUID(), report: REPORT, period, recipient: to, revision: 0, from }
  return {
    ...{ from, to, toName: null, replyTo, unsubscribe: { mailto: replyTo ?? from, url: null } },
    ...{ ...content, lang: 'en', files: [], date, report: REPORT },
    messageId: messageId(identity),
  }
}

function linesOf(config: Config, now: Date) {
  return schedulesOf(config).flatMap(({ report, timing }) => {
    const next = nextScheduledRun(timing, now)
    if (report === null || next === null) return []
    const [first = 'nobody', ...others] = report.recipients.map(({ address }) => address)
    const whom = others.length === 0 ? first : `${first} and ${others.length} more`
    return [
      {
        heading: `The ${report.name} report`,
        message: `It comes ${localTime(next, timing.timeZone)} for the first time, once the daemon runs, and goes to ${whom}.`,
        hint: null,
        times: `${timing.expression}, ${timing.timeZone}`,
      },
    ]
  })
}
