/** The five questions of `leadsheet init`. Answers that are given already are shown and not asked for. */
import type { CheckResult } from '../../checks/check.ts'
import { fail } from '../../checks/check.ts'
import { splitList } from '../../config/environment.ts'
import { settingFault } from '../../config/errors.ts'
import { LeadsheetError } from '../../errors.ts'
import { profileText } from '../../probe/profile-text.ts'
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import type { Prompter } from '../terminal/prompter.ts'
import { localTime, plainText } from '../terminal/table.ts'
import type { Answer, Answers, Given } from './answers.ts'
import {
  addressesFault,
  dashboardOf,
  detectedZone,
  NONE,
  placeOfAnswer,
  readAgain,
  STANDARD,
  said,
} from './answers.ts'
import type { Service, TrialDeps } from './trials.ts'
import { probeService, tryListen, tryMail, tryService } from './trials.ts'

const TIMES_SHOWN = 3

export interface Asked {
  readonly answers: Answers
  /** The text of a profile that a probe of the service has made, to be written; null if there is none. */
  readonly probed: string | null
  /** The address that gets a test mail; null if no test mail is wanted. */
  readonly testMailTo: string | null
}

/** @param testMailTo the address of a test mail; if null, the user is asked whether to send a test mail */
export async function askAll(asking: Asking, testMailTo: string | null): Promise<Asked> {
  const { probed, ...service } = await askService(asking)
  const mail = await askMail(asking)
  const people = await askPeople(asking)
  const time = await askTime(asking)
  const dashboard = await askDashboard(asking)
  const answers = { ...service, ...mail, ...people, ...time, ...dashboard }
  return { answers, probed, testMailTo: testMailTo ?? (await askTestMail(asking, people)) }
}

async function askMail(asking: Asking): Promise<Pick<Answers, 'mailUrl' | 'from'>> {
  const { prompter, tell } = asking
  prompter.say('', '2 of 5  The mail server, or a folder that gets the mails as .eml files')
  let { given } = asking
  let sender: string | undefined
  for (let tried: string | null = null; ; ) {
    const mailUrl = await askMailUrl(prompter, given.mailUrl, tried)
    const from = await answerOf(prompter, given.from, {
      text: 'Sender',
      standard: sender ?? senderFor(mailUrl.value),
      fault: (text) => settingFault(['mail', 'from'], text),
    })
    const check = await patiently(prompter, tryMail(mailUrl.value, asking))
    tell(check)
    if (check.status === 'ok') return { mailUrl, from }
    if ((await prompter.choose(...AGAIN_OR_KEEP)) === 'keep') return { mailUrl, from }
    given = await givenAgain(asking, given)
    tried = mailUrl.value
    sender = from.value === senderFor(mailUrl.value) ? undefined : from.value
  }
}

/**
 * Asks for the URL of the mail server, then for the user and the hidden password.
 * @param tried the URL that did not work before, now offered as the default; null the first time
 */
async function askMailUrl(
  prompter: Prompter,
  given: Answer | undefined,
  tried: string | null,
): Promise<Answer> {
  if (given !== undefined && (given.variable ?? given.file) !== null) {
    prompter.say(`  Mail server: in ${given.variable ?? given.file}, which stays there`)
    return given
  }
  const { value } = await answerOf(prompter, given, {
    text: 'Address, such as smtp://mail.example.com:587',
    standard: tried === null ? 'file:./outbox' : withoutLogin(tried),
    fault: (url) => settingFault(['smtp', 'url'], url),
  })
  const { protocol, username, password } = new URL(value)
  if (protocol === 'file:' || password !== '') return said(value)
  const known = loginIn(tried)
  // If an option gave an address without a user, the mail server needs no login.
  const askUser = async () =>
    given === undefined ? prompter.ask({ text: 'User, or none', standard: known.user || NONE }) : NONE
  const user = decodeURIComponent(username) || (await askUser())
  if (user === NONE) return said(value)
  const kept = user === known.user ? known.password : ''
  const typed = await prompter.askHidden(
    `Password (hidden${kept === '' ? '' : '; Enter keeps the last one'})`,
  )
  return said(withLogin(value, user, typed || kept))
}

/** Returns the user and the password of a URL; empty if there are none. */
function loginIn(mailUrl: string | null): { readonly user: string; readonly password: string } {
  const { username = '', password = '' } = mailUrl === null ? {} : new URL(mailUrl)
  return { user: decodeURIComponent(username), password: decodeURIComponent(password) }
}

function withLogin(url: string, user: string, password: string): string {
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`
  return withoutLogin(url).replace(/^smtps?:\/\//i, (scheme) => `${scheme}${login}`)
}

function withoutLogin(mailUrl: string): string {
  const url = new URL(mailUrl)
  url.username = ''
  url.password = ''
  return url.href
}

/**
 * Suggests a sender. If the user name for the mail server is a mail address, suggests that address. If mails
 * go into a folder, suggests a local address. Otherwise returns undefined.
 */
function senderFor(mailUrl: string): string | undefined {
  const { protocol, username } = new URL(mailUrl)
  const user = decodeURIComponent(username)
  if (settingFault(['alerts', 'recipients'], [user]) === null) return `Lead reports <${user}>`
  return protocol === 'file:' ? 'Lead reports <leadsheet@localhost>' : undefined
}

async function askPeople(asking: Asking): Promise<Pick<Answers, 'recipients' | 'alertRecipients'>> {
  const { prompter, given } = asking
  prompter.say('', '3 of 5  Who gets the report, and who gets alerts')
  const recipients = await addressesOf(prompter, given.recipients, {
    text: 'Addresses for the report, with commas between them',
    fault: addressesFault,
  })
  const alertRecipients = await addressesOf(prompter, given.alertRecipients, {
    text: `Addresses for alerts, or ${NONE}`,
    standard: recipients.value[0],
    fault: (text) => (text === NONE ? null : addressesFault(text)),
  })
  return { recipients, alertRecipients }
}

async function askTime(asking: Asking): Promise<Pick<Answers, 'timeZone' | 'schedule'>> {
  const { prompter, given, now } = asking
  prompter.say('', '4 of 5  When the report comes')
  const timeZone = await answerOf(prompter, given.timeZone, {
    text: 'Time zone',
    standard: detectedZone(),
    fault: (name) => settingFault(['time_zone'], name),
  })
  const schedule = await answerOf(prompter, given.schedule, {
    text: 'When, in words or as cron',
    standard: STANDARD.schedule,
    fault: (text) => settingFault(['sync', 'schedule'], text),
  })
  const timing = { expression: schedule.value, timeZone: timeZone.value, holidays: [] }
  const times: string[] = []
  let at = nextScheduledRun(timing, now)
  for (; at !== null && times.length < TIMES_SHOWN; at = nextScheduledRun(timing, at))
    times.push(localTime(at, timeZone.value))
  prompter.say(`  That is ${times.join(', ')} …`)
  return { timeZone, schedule }
}

async function askDashboard(asking: Asking): Promise<Pick<Answers, 'listen' | 'token'>> {
  const { prompter, tell, given } = asking
  prompter.say('', '5 of 5  The dashboard: how all stands, in a browser')
  for (let known = given.listen, standard: string = STANDARD.listen; ; ) {
    const listen = await answerOf(prompter, known, {
      text: `Where it listens, or ${NONE}`,
      standard,
      fault: (text) => settingFault(['web', 'listen'], text),
    })
    const check = await tryListen(listen.value)
    if (check.status === 'ok') return dashboardOf(listen, given.token)
    tell(check)
    if ((await prompter.choose(...AGAIN_OR_KEEP)) === 'keep') return dashboardOf(listen, given.token)
    // An address from an environment variable is tried again unchanged. Any other address is asked for again.
    known = known?.variable ? known : undefined
    standard = listen.value
  }
}

async function askTestMail(
  { prompter }: Asking,
  { alertRecipients, recipients }: Pick<Answers, 'recipients' | 'alertRecipients'>,
): Promise<string | null> {
  const [to = null] = [...alertRecipients.value, ...recipients.value]
  prompter.say('')
  return to !== null && (await prompter.confirm(`Send a test mail to ${to}?`)) ? to : null
}

async function addressesOf(
  prompter: Prompter,
  given: Answer<readonly string[]> | undefined,
  question: Asks,
): Promise<Answer<readonly string[]>> {
  const shown = given && { ...given, value: given.value.join(', ') || NONE }
  const { value } = await answerOf(prompter, shown, question)
  return given ?? said(value === NONE ? [] : splitList(value))
}

const PATIENCE_MS = 1_500

/** The question and the possible answers after a trial has failed. */
const AGAIN_OR_KEEP = ['Once more (again), or keep it (keep)', ['again', 'keep']] as const

export interface Asking extends TrialDeps {
  readonly prompter: Prompter
  readonly given: Given
  /** Shows the result of a trial. */
  readonly tell: (check: CheckResult) => void
  readonly now: Date
}

export interface Asks {
  readonly text: string
  readonly standard?: string | undefined
  readonly fault: (answer: string) => string | null
}

export async function answerOf(
  prompter: Prompter,
  given: Answer | undefined,
  question: Asks,
): Promise<Answer> {
  if (given === undefined) return said(await prompter.ask(question))
  prompter.say(`  ${question.text}: ${given.value}${given.variable === null ? '' : ` (${given.variable})`}`)
  return given
}

/** Tells the user to wait if a trial takes long. */
async function patiently<T>(prompter: Prompter, trial: Promise<T>): Promise<T> {
  const timer = setTimeout(() => prompter.say('  waiting for an answer …'), PATIENCE_MS)
  try {
    return await trial
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Reads the files of the given answers again, because the user may have corrected the files. As long as a
 * file has a mistake, the user chooses: read the file again, or answer the question instead.
 */
async function givenAgain({ prompter, tell }: Asking, before: Given): Promise<Given> {
  for (;;) {
    const { given, problems } = readAgain(before)
    if (problems.length === 0) return given
    for (const problem of problems) tell(fail('file', problem, 'correct the file'))
    const text = 'Read it again (again), or answer the question instead (ask)'
    if ((await prompter.choose(text, ['again', 'ask'])) === 'ask') return given
  }
}

// The address at which `leadsheet service run` serves the reference service.
const SERVICE_URL = 'http://127.0.0.1:8484/api/v1'

/** The file name of the profile, in the folder of the settings. */
export const PROFILE_NAME = 'profile.yaml'

/** The answers about the service. `probed` is the text of a profile if a probe of the service made one. */
type ServiceAnswers = Pick<Answers, 'apiUrl' | 'key' | 'profile'> & { readonly probed: string | null }

async function askService(asking: Asking): Promise<ServiceAnswers> {
  const { prompter, tell } = asking
  prompter.say('', '1 of 5  The service that the leads come from')
  let { given } = asking
  let tried: string | null = null
  for (let standard = SERVICE_URL; ; ) {
    const apiUrl = await answerOf(prompter, given.apiUrl, {
      text: 'Its address',
      standard,
      fault: (url) => settingFault(['api', 'url'], url),
    })
    const key: Answer = given.key ?? said(await askKey(prompter, tried))
    const keyPlace = placeOfAnswer(key)
    if (keyPlace !== null) prompter.say(`  API key: in ${keyPlace}, which stays there`)
    const profile = given.profile ?? said(null)
    const service = { url: apiUrl.value, key: key.value, keyPlace, profile: profile.value }
    const { checks, answers } = await patiently(prompter, tryService(service, asking))
    printAll(checks, tell)
    if (checks.every(({ status }) => status !== 'fail')) return { apiUrl, key, profile, probed: null }
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
    given = await givenAgain(asking, given)
    standard = apiUrl.value
    tried = key.value
  }
}

/** @param tried the key that did not work before, which Enter alone keeps; null or empty without one */
async function askKey(prompter: Prompter, tried: string | null): Promise<string> {
  const enter = tried ? `Enter keeps the last one; ${NONE} for no key` : 'Enter for none'
  const typed = (await prompter.askHidden(`API key (stays hidden; ${enter})`)).trim()
  return typed === NONE ? '' : typed || (tried ?? '')
}

/** Probes how the service works and tries the profile that results; null if no profile could be found. */
async function findProfile(
  asking: Asking,
  service: Omit<Service, 'profile'>,
): Promise<Pick<ServiceAnswers, 'profile' | 'probed'> | null> {
  const { prompter, tell, now } = asking
  const onStep = (step: string): void => prompter.say(`  looking for ${step}`)
  const result = await probeService(service, onStep, asking).catch((thrown: unknown) => {
    if (!(thrown instanceof LeadsheetError) || thrown.code === 'run_interrupted') throw thrown
    tell(fail('probe', thrown.message, thrown.hint ?? 'try again later'))
    return null
  })
  if (result === null) return null
  for (const { place, problem, remedy } of result.gaps)
    prompter.say(
      plainText(`  not found out: ${place}: ${problem}${remedy === null ? '' : `; by hand: ${remedy}`}`),
    )
  if (result.input === null || result.profile === null) return null
  const value = { data: result.input, origin: PROFILE_NAME, nameOf: () => PROFILE_NAME, problem: null }
  const { checks } = await tryService({ ...service, profile: value }, asking)
  printAll(checks, tell)
  const text = profileText(result.input, result, service.url, now.toISOString().slice(0, 10))
  prompter.say(`  ${PROFILE_NAME} will say what was found, with the evidence for each line: read it`)
  return { profile: said(value), probed: text }
}

/** Shows the first check, and all other checks that are not ok. */
function printAll(checks: readonly CheckResult[], tell: (check: CheckResult) => void): void {
  const [first] = checks
  for (const check of checks) if (check === first || check.status !== 'ok') tell(check)
}
