/**
 * The test at the end of `leadsheet init`: tries the service, the mail server and the port of the dashboard,
 * and sends the test mail.
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
import { probe } from '../../probe/probe.ts'
import { profileText } from '../../probe/profile-text.ts'
import type { ProxySettings } from '../../proxy.ts'
import { redactor } from '../../redaction.ts'
import { openAlertMail } from '../../report/render/alert-mail.ts'
import { BACKOFF } from '../../retry.ts'
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import { openSource } from '../../upstream/source.ts'
import { checkMailServer, findListenFault } from '../installation-checks.ts'
import { localTime, plainText } from '../terminal/table.ts'
import type { Answers } from './answers.ts'

export interface TrialDeps {
  readonly log: Log
  readonly signal: AbortSignal
  readonly proxy?: ProxySettings
}

interface Tried {
  readonly checks: readonly CheckResult[]
  /** The profile that the service was read with; null for that of the reference service. */
  readonly profile: ProfileData | null
  /** The text of a profile that a probe of the service made; null if there is none. */
  readonly probed: string | null
}

// The wait is short, because a person is waiting for the answer.
const WAIT_MS = 5_000
const PROFILE_NAME = 'profile.yaml'

/**
 * Tries the service, the mail server and the port of the dashboard. If the service answers but not as the
 * reference service does, a probe finds out how it works.
 * @param say shows lines to the person; null if nobody is there, and then nothing is probed
 */
export async function tryAnswers(
  answers: Answers,
  say: ((line: string) => void) | null,
  deps: TrialDeps,
): Promise<Tried> {
  const { mailUrl, listen } = answers
  let { checks, answers: isThere } = await tryService(answers, answers.profile, deps)
  let found: Pick<Tried, 'profile' | 'probed'> = { profile: answers.profile, probed: null }
  if (isThere && say !== null && answers.profile === null && checks.some(({ status }) => status === 'fail')) {
    const probed = await findProfile(answers, say, deps)
    if (probed !== null) {
      found = probed
      checks = (await tryService(answers, probed.profile, deps)).checks
    }
  }
  return { checks: [...checks, await tryMail(mailUrl.value, deps), await tryListen(listen.value)], ...found }
}

/**
 * Runs the upstream checks of `leadsheet doctor`. If an error prevents the checks, returns the error as a
 * failed check.
 * @returns the checks. `answers` is true if the service answered at all. Only then does a probe make sense.
 */
async function tryService(
  { apiUrl, key }: Answers,
  profile: ProfileData | null,
  { log, signal, proxy }: TrialDeps,
): Promise<{ checks: readonly CheckResult[]; answers: boolean }> {
  const redact = redactor([key.value])
  try {
    await using opened = new AsyncDisposableStack()
    const source = openSource({
      baseUrl: apiUrl.value,
      apiKey: key.value,
      maxWaitMs: WAIT_MS,
      log,
      backoff: BACKOFF.upstreamWhileWaiting,
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
    return {
      checks: [fail('service', redact(thrown.message), thrown.hint ?? 'check the address and the key')],
      answers: /^api_(unauthorized|forbidden|not_found|rejected|unexpected)$/.test(thrown.code),
    }
  }
}

/** Probes how the service works; null if no profile could be found. */
async function findProfile(
  { apiUrl, key }: Answers,
  say: (line: string) => void,
  { log, signal, proxy }: TrialDeps,
): Promise<{ readonly profile: ProfileData; readonly probed: string } | null> {
  const onStep = (step: string): void => say(`  looking for ${step}`)
  await using asker = openAsker({ apiKey: key.value, maxWaitMs: WAIT_MS, log, signal, proxy })
  const base = new URL(apiUrl.value)
  const result = await probe(asker, { base, path: null, key: key.value, onStep }).catch((thrown: unknown) => {
    if (!(thrown instanceof LeadsheetError) || thrown.code === 'run_interrupted') throw thrown
    return null
  })
  for (const { place, problem, remedy } of result?.gaps ?? [])
    say(plainText(`  not found out: ${place}: ${problem}${remedy === null ? '' : `; by hand: ${remedy}`}`))
  if (result === null || result.input === null || result.profile === null) return null
  say(`  ${PROFILE_NAME} says what was found, with the evidence for each line: read it`)
  const today = new Date().toISOString().slice(0, 10)
  return {
    profile: { data: result.input, origin: PROFILE_NAME, nameOf: () => PROFILE_NAME, problem: null },
    probed: profileText(result.input, result, apiUrl.value, today),
  }
}

/** Checks the mail server. A folder needs no check, because it is made for the first message. */
async function tryMail(url: string, deps: TrialDeps): Promise<CheckResult> {
  if (url.startsWith('file:')) return ok('mail', 'a folder takes the mails')
  return checkMailServer(url, 'check the address, the user and the password', deps)
}

async function tryListen(listen: string): Promise<CheckResult> {
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
    from,
    to,
    toName: null,
    replyTo,
    unsubscribe: { mailto: replyTo ?? from, url: null },
    ...content,
    lang: 'en',
    files: [],
    date,
    report: REPORT,
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
