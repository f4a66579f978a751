/** Finds out for `leadsheet init` how a service works that does not answer as the reference service does. */
import { checkUpstream } from '../../checks/upstream.ts'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { openAsker } from '../../probe/ask.ts'
import { probe } from '../../probe/probe.ts'
import { profileText } from '../../probe/profile-text.ts'
import type { ProxySettings } from '../../proxy.ts'
import { BACKOFF } from '../../retry.ts'
import type { KeySource } from '../../upstream/client/key-source.ts'
import { REFERENCE_PROFILE } from '../../upstream/profile/reference-profile.ts'
import { openSource } from '../../upstream/source.ts'
import { plainText } from '../terminal/table.ts'

interface FindDeps {
  readonly log: Log
  readonly signal: AbortSignal
  readonly proxy?: ProxySettings
  /** Shows lines to the person. */
  readonly say: (line: string) => void
}

interface Service {
  readonly url: string
  readonly openKeys: () => KeySource
  /** False if there is a profile, so that only the login is tried. */
  readonly isProbed: boolean
}

export interface Access {
  /** True if the login gives no token, or the service takes the key in no form. */
  readonly isRefused: boolean
  /**
   * The text of a profile; null if the service answers as the reference service does, if it does not answer, or if
   * the probe could not find out how it works.
   */
  readonly probed: string | null
}

// The wait is short, because a person is waiting for the answer.
const WAIT_MS = 5_000
const DEADLINE_MS = 2 * 60_000

/** Tries the login, and probes the service. */
export async function findProfile(service: Service, deps: FindDeps): Promise<Access> {
  const { url, openKeys } = service
  const { say } = deps
  const keys = openKeys()
  const deadline = AbortSignal.timeout(DEADLINE_MS)
  await using asker = openAsker({ apiKey: keys, maxWaitMs: WAIT_MS, deadline, ...deps })
  const key = await keys.current(deps.signal).catch((thrown: unknown) => {
    unlessBug(thrown)
    const { message, hint = '' } = thrown as LeadsheetError
    say(plainText(`  ${message}\n  ${withoutVariables(hint)}`))
    return null
  })
  if (key === null) return { isRefused: true, probed: null }
  if (!service.isProbed || !(await answersOtherwise(service, deps))) return { isRefused: false, probed: null }
  const result = await probe(asker, {
    base: new URL(url),
    path: null,
    key,
    onStep: (step) => say(`  looking for ${step}`),
  }).catch(unlessBug)
  const isFound = result?.input && result.profile !== null
  const gaps = result?.gaps ?? []
  const isRefused = gaps[0]?.place === 'auth'
  // Without a key that the service takes, nothing else could be found.
  for (const { place, problem, remedy } of gaps.slice(0, isRefused ? 1 : gaps.length))
    say(plainText(`  not found out: ${place}: ${problem}${isFound && remedy ? `; by hand: ${remedy}` : ''}`))
  if (!isFound) {
    say(
      `  if address and key are right, ${shellCommand('probe --help')} has options that help; api.profile names what it writes`,
    )
    return { isRefused, probed: null }
  }
  say('  profile.yaml says what was found, with the evidence for each line: read it')
  return { isRefused, probed: profileText(result.input, result, url, new Date().toISOString().slice(0, 10)) }
}

/** In `init` the answers give the values, and no variables. */
export function withoutVariables(hint: string): string {
  return hint.replaceAll(/ \(LEADSHEET_\w+\)/g, '')
}

/** Returns true if the service answers, but not as the reference service does. */
async function answersOtherwise(
  { url, openKeys }: Service,
  { log, signal, proxy }: FindDeps,
): Promise<boolean> {
  await using opened = new AsyncDisposableStack()
  try {
    const source = openSource({
      baseUrl: url,
      apiKey: openKeys(),
      maxWaitMs: WAIT_MS,
      log,
      backoff: BACKOFF.upstreamWhileWaiting,
      profile: REFERENCE_PROFILE,
      proxy,
    })
    opened.defer(() => source.close())
    await source.listLeads({}, null, 1, { signal })
    const checks = await Array.fromAsync(checkUpstream(source, signal))
    return checks.some(({ status }) => status === 'fail')
  } catch (thrown) {
    unlessBug(thrown)
    const { code } = thrown as LeadsheetError
    return /^api_(unauthorized|forbidden|not_found|rejected|unexpected)$/.test(code)
  }
}

/** @throws the error if it is no failure of the service */
function unlessBug(thrown: unknown): null {
  if (!(thrown instanceof LeadsheetError) || thrown.code === 'run_interrupted') throw thrown
  return null
}
