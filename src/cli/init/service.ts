/** The question after the service that the leads come from, with a trial at once, and a probe where it is another. */
import { settingFault } from '../../config/setting-fault.ts'
import { errorText, LeadsheetError } from '../../errors.ts'
import { profileText } from '../../probe/profile-text.ts'
import { type Check, fail } from '../../upstream/checkup.ts'
import { refuseOpenHttp } from '../../upstream/client/require-https.ts'
import { plainText } from '../plain-text.ts'
import { type Answers, said } from './answers.ts'
import { AGAIN_OR_KEEP, type Asking, answerOf, changeable, patiently } from './asking.ts'
import { probeService, tryService } from './trials.ts'

/** Where `leadsheet serve` has the reference service. */
const SERVICE_URL = 'http://127.0.0.1:8484/api/v1'

/** Beside the settings. */
export const PROFILE_NAME = 'profile.yaml'

/** The profile as text where one was found out and is to be written. */
type ServiceAnswers = Pick<Answers, 'apiUrl' | 'key' | 'profile'> & { readonly probed: string | null }

export async function askService(asking: Asking): Promise<ServiceAnswers> {
  const { prompter, tell } = asking
  prompter.say('', '1 of 5  The service that the leads come from')
  let { given } = asking
  for (let standard = SERVICE_URL; ; ) {
    const apiUrl = await answerOf(prompter, given.apiUrl, {
      text: 'Its address',
      standard,
      fault: (url) => settingFault(['api', 'url'], url) ?? openHttpFault(url),
    })
    const key = given.key ?? said((await prompter.askHidden('API key (stays hidden; Enter for none)')).trim())
    if (key.variable !== null) prompter.say(`  API key: in ${key.variable}, which stays there`)
    const profile = given.profile ?? said(null)
    const service = { url: apiUrl.value, key: key.value, profile: profile.value }
    const { checks, answers } = await patiently(prompter, tryService(service, asking))
    tellAll(checks, tell)
    if (checks.every(({ verdict }) => verdict !== 'fail')) return { apiUrl, key, profile, probed: null }
    const canProbe = answers && profile.value === null
    const next = canProbe
      ? await prompter.choose('Once more (again), find out how it works (probe), or keep it (keep)', [
          'again',
          'probe',
          'keep',
        ])
      : await prompter.choose(...AGAIN_OR_KEEP)
    if (next === 'keep') return { apiUrl, key, profile, probed: null }
    const found = next === 'probe' ? await findProfile(asking, service) : null
    if (found !== null) return { apiUrl, key, ...found }
    given = changeable(given)
    standard = apiUrl.value
  }
}

/** Asks the service how it works, and once more whether it does; null where that cannot be told. */
async function findProfile(
  asking: Asking,
  service: { readonly url: string; readonly key: string },
): Promise<Pick<ServiceAnswers, 'profile' | 'probed'> | null> {
  const { prompter, tell, now } = asking
  const onStep = (step: string): void => prompter.say(`  looking for ${step}`)
  const result = await probeService({ ...service, profile: null }, onStep, asking).catch(
    (thrown: unknown) => {
      if (!(thrown instanceof LeadsheetError) || thrown.code === 'run_interrupted') throw thrown
      tell(fail('probe', thrown.message, thrown.hint ?? 'try again later'))
      return null
    },
  )
  if (result === null) return null
  for (const { place, problem, remedy } of result.gaps)
    prompter.say(
      plainText(`  not found out: ${place}: ${problem}${remedy === null ? '' : `; by hand: ${remedy}`}`),
    )
  if (result.input === null || result.profile === null) return null
  const value = { data: result.input, origin: PROFILE_NAME, nameOf: () => PROFILE_NAME, problem: null }
  const { checks } = await tryService({ ...service, profile: value }, asking)
  tellAll(checks, tell)
  const text = profileText(result.input, result, service.url, now.toISOString().slice(0, 10))
  prompter.say(`  ${PROFILE_NAME} will say what was found, with the evidence for each line: read it`)
  return { profile: said(value), probed: text }
}

/** All of them where something is wrong; else one line. */
function tellAll(checks: readonly Check[], tell: (check: Check) => void): void {
  const [first] = checks
  for (const check of checks) if (check === first || check.verdict !== 'ok') tell(check)
}

function openHttpFault(url: string): string | null {
  try {
    refuseOpenHttp(new URL(url))
    return null
  } catch (thrown) {
    return errorText(thrown)
  }
}
