/** Whether what was answered works: the service, the mail server and the port of the window are tried, and no more. */
import type { ProfileData } from '../../config/profile-file.ts'
import { listenAddress } from '../../config/web-settings.ts'
import { LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { openAsker } from '../../probe/ask.ts'
import { type ProbeResult, probe } from '../../probe/probe.ts'
import { redactor } from '../../redaction.ts'
import { type Check, checkUpstream, fail, ok, warn } from '../../upstream/checkup.ts'
import { openSource } from '../../upstream/open.ts'
import { parseProfile } from '../../upstream/profile/profile.ts'
import { REFERENCE_PROFILE } from '../../upstream/profile/reference-profile.ts'
import { findListenFault } from '../listen-fault.ts'
import { checkMailServer } from '../mail-check.ts'
import { BRIEF_BACKOFF } from '../upstream.ts'

export interface TrialDeps {
  readonly log: Log
  readonly signal: AbortSignal
}

export interface Service {
  readonly url: string
  /** Empty for none. */
  readonly key: string
  /** Null for that of the reference service. */
  readonly profile: ProfileData | null
}

/** Somebody waits for the answer. */
const WAIT_MS = 5_000

/**
 * The checks of `leadsheet doctor`, or the one thing that stands in their way.
 * @returns whether the service answered at all, so that a probe could find out more
 */
export async function tryService(
  { url, key, profile }: Service,
  { log, signal }: TrialDeps,
): Promise<{ checks: readonly Check[]; answers: boolean }> {
  const redact = redactor([key])
  try {
    await using source = openDisposable(
      openSource({
        ...{ baseUrl: url, apiKey: key, maxWaitMs: WAIT_MS, log, backoff: BRIEF_BACKOFF },
        profile: profile === null ? REFERENCE_PROFILE : parseProfile(profile.data, profile.nameOf),
      }),
    )
    await source.listLeads({}, null, 1, { signal })
    const checks: Check[] = []
    for await (const check of checkUpstream(source, signal))
      checks.push({ ...check, found: redact(check.found) })
    return { checks, answers: true }
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || thrown.code === 'run_interrupted') throw thrown
    const remedy = thrown.hint ?? 'check the address and the key'
    return {
      checks: [fail('service', redact(thrown.message), remedy)],
      answers: /^api_(unauthorized|forbidden|not_found|rejected|unexpected)$/.test(thrown.code),
    }
  }
}

/** @throws LeadsheetError api_unreachable, api_deferred */
export async function probeService(
  { url, key }: Service,
  onStep: (step: string) => void,
  { log, signal }: TrialDeps,
): Promise<ProbeResult> {
  await using asker = openDisposable(openAsker({ apiKey: key, maxWaitMs: WAIT_MS, log, signal }))
  return await probe(asker, { base: new URL(url), path: null, key, onStep })
}

/** A folder is made when the first letter comes. */
export async function tryMail(url: string, deps: TrialDeps): Promise<Check> {
  if (url.startsWith('file:')) return ok('mail', 'a folder takes the mails')
  return checkMailServer(url, 'check the address, the user and the password', deps)
}

export async function tryListen(listen: string): Promise<Check> {
  const address = listenAddress(listen)
  if (address === null) return ok('window', 'none is wanted')
  const fault = await findListenFault(address)
  return fault === null
    ? ok('window', `${listen} is free`)
    : warn('window', `cannot listen at ${listen}: ${fault}`, 'take another address')
}

function openDisposable<T extends { close(): Promise<void> }>(opened: T): T & AsyncDisposable {
  return Object.assign(opened, { [Symbol.asyncDispose]: () => opened.close() })
}
