/**
 * Collects the answers of `leadsheet init`. Each answer is one row of a table: it comes from an option, from
 * the environment, from the person at the terminal, or it is a default, in this order.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { needsKey, profileFrom } from '../../app/configured-upstream.ts'
import type { Config } from '../../config/config.ts'
import { splitList, variablesFor } from '../../config/environment.ts'
import { settingFault } from '../../config/errors.ts'
import { listenText } from '../../config/schema-web.ts'
import type { SettingPath } from '../../config/setting-path.ts'
import { pathText } from '../../config/setting-path.ts'
import type { ProfileData } from '../../config/settings-file.ts'
import { readProfile } from '../../config/settings-file.ts'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import type { Prompter } from '../terminal/prompter.ts'
import { localTime } from '../terminal/table.ts'

export interface Answer {
  /** The text of the answer. Addresses are separated by commas. */
  readonly value: string
  /** The environment variable that gives the value; null if none does. */
  readonly variable: string | null
  /** The absolute path of the file that already holds the value; null if there is none. */
  readonly file: string | null
}

/** The names of the answers, in the order in which they are asked for. */
const NAMES = [
  'apiUrl',
  'key',
  'mailUrl',
  'from',
  'recipients',
  'alertRecipients',
  'timeZone',
  'schedule',
  'listen',
  'token',
] as const
type AnswerName = (typeof NAMES)[number]

export type Answers = Readonly<Record<AnswerName, Answer>> & {
  /** The settings that describe the service's API (profile); null for those of the reference service. */
  readonly profile: ProfileData | null
  /** The origin of the profile; its value is empty for the reference service. */
  readonly profileAnswer: Answer
}

/** The options of `leadsheet init` as commander returns them. */
export type AnswerOptions = { readonly [Option in string]?: string | boolean | undefined }

/** Stands for "no addresses" or "no dashboard" in an answer. */
export const NONE = 'none'

type Known = { readonly [Name in AnswerName]?: Answer }

interface Row {
  /** The line above the first answer of a question. */
  readonly heading?: string
  readonly path: SettingPath
  readonly flag?: string
  readonly fileFlag?: string
  readonly question: string
  /** The value in the environment's settings. */
  readonly read: (config: Config) => string | null | undefined
  /** The value if nobody is asked; the person is offered it too. */
  readonly standard?: (known: Known) => string
  /** The value that the person is offered, if there is no standard. */
  readonly offered?: (known: Known) => string | undefined
  readonly fault?: (value: string) => string | null
}

const TABLE: Readonly<Record<AnswerName, Row>> = {
  apiUrl: {
    heading: '1 of 5  The service that the leads come from',
    path: ['api', 'url'],
    flag: '--api-url',
    question: 'Its address',
    read: ({ api }) => api.url,
    // The address at which `leadsheet service run` serves the reference service.
    offered: () => 'http://127.0.0.1:8484/api/v1',
  },
  key: {
    path: ['api', 'key'],
    fileFlag: '--key-file',
    question: 'API key (stays hidden; Enter for none)',
    read: ({ api }) => api.key?.reveal(),
  },
  mailUrl: {
    heading: '2 of 5  The mail server, or a folder that gets the mails as .eml files',
    path: ['smtp', 'url'],
    flag: '--smtp-url',
    fileFlag: '--smtp-url-file',
    question: 'Address, such as smtp://mail.example.com:587',
    read: ({ smtp }) => smtp.url?.reveal(),
    offered: () => 'file:./outbox',
  },
  from: {
    path: ['mail', 'from'],
    flag: '--from',
    question: 'Sender',
    read: ({ mail }) => mail.from,
    offered: ({ mailUrl }) => mailUrl && senderFor(mailUrl.value),
  },
  recipients: {
    heading: '3 of 5  Who gets the report, and who gets alerts',
    path: ['recipients'],
    flag: '--recipients',
    question: 'Addresses for the report, with commas between them',
    read: (config) => config.recipients.join(', '),
    fault: addressesFault,
  },
  alertRecipients: {
    path: ['alerts', 'recipients'],
    flag: '--alert-recipients',
    question: `Addresses for alerts, or ${NONE}`,
    read: ({ alerts }) => alerts.recipients.join(', '),
    standard: ({ recipients }) => listIn(recipients)[0] ?? NONE,
    fault: (text) => (text === NONE ? null : addressesFault(text)),
  },
  timeZone: {
    heading: '4 of 5  When the report comes',
    path: ['time_zone'],
    flag: '--time-zone',
    question: 'Time zone',
    read: (config) => config.timeZone,
    standard: detectedZone,
  },
  schedule: {
    path: ['sync', 'schedule'],
    flag: '--schedule',
    question: 'When, in words or as cron',
    read: () => null,
    standard: () => 'every weekday at 07:00',
  },
  listen: {
    heading: '5 of 5  The dashboard: how all stands, in a browser',
    path: ['web', 'listen'],
    flag: '--listen',
    question: `Where it listens, or ${NONE}`,
    read: ({ web }) => listenText(web.listen),
    standard: () => '127.0.0.1:8080',
  },
  token: {
    path: ['web', 'token'],
    question: 'Token',
    read: ({ web }) => web.token?.reveal(),
    standard: ({ listen }) => (listen?.value === NONE ? '' : randomBytes(24).toString('base64url')),
  },
}

/** The answers that are known before anybody is asked. */
export interface Given {
  readonly known: Known
  readonly profile: ProfileData | null
  readonly profileAnswer: Answer
}

/**
 * Reads the answers from the options and the environment.
 * @param environment the settings that come from the environment alone
 * @throws LeadsheetError usage_invalid, with all mistakes at once
 */
export function readGiven(options: AnswerOptions, environment: Config): Given {
  const problems: string[] = []
  const known: Partial<Record<AnswerName, Answer>> = {}
  const variableOf = (path: SettingPath) => environment.sources[pathText(path)]?.split(' ').at(-1)
  const textOf = (flag: string): string | undefined => {
    const text = options[optionName(flag)]
    return typeof text === 'string' ? text : undefined
  }
  const refuseTwice = (flag: string, path: SettingPath): void => {
    const variable = variableOf(path)
    if (variable !== undefined) problems.push(`${flag}: ${variable} is set too and would win; leave out one`)
  }
  for (const name of NAMES) {
    const { path, flag = '', fileFlag = '', read, fault = faultAt(path) } = TABLE[name]
    const [text, file] = [textOf(flag), textOf(fileFlag)]
    const used = file === undefined ? flag : fileFlag
    const value = file === undefined ? text : readFileText(fileFlag, file, problems)
    const variable = variableOf(path)
    const ofEnvironment = read(environment)
    if (file !== undefined || text !== undefined) refuseTwice(used, path)
    if (file !== undefined && text !== undefined) problems.push(`${flag}: leave it out, or ${fileFlag}`)
    if (value !== undefined) {
      const wrong = fault(value)
      if (wrong !== null) problems.push(`${used}: ${wrong}`)
      known[name] = { value, variable: null, file: file === undefined ? null : resolve(file) }
    } else if (variable !== undefined && ofEnvironment != null) {
      known[name] = { value: ofEnvironment, variable, file: null }
    }
  }
  const smtpUrl = textOf('--smtp-url')
  if (smtpUrl !== undefined && URL.parse(smtpUrl)?.password)
    problems.push('--smtp-url: others can see a password there; give a file that holds it by --smtp-url-file')
  const testMailFault = textOf('--test-mail') && addressesFault(textOf('--test-mail') ?? '')
  if (testMailFault) problems.push(`--test-mail: ${testMailFault}`)
  const profileFile = textOf('--profile')
  const profile =
    profileFile === undefined ? environment.api.profile : readProfile(resolve(profileFile), process.cwd())
  if (profileFile !== undefined) {
    refuseTwice('--profile', ['api', 'profile'])
    if (profile?.problem) problems.push(`--profile: ${profile.origin} ${profile.problem}`)
  }
  if (problems.length > 0) {
    const count = problems.length === 1 ? 'a mistake' : `${problems.length} mistakes`
    const lines = problems.map((problem) => `  ${problem}`).join('\n')
    throw new LeadsheetError('usage_invalid', `${count} in the options:\n${lines}`, {
      mistakes: problems,
      hint: `${shellCommand('init --help')} shows all options.`,
    })
  }
  const profileAnswer = {
    value: profile?.origin ?? '',
    variable: profileFile === undefined ? (variableOf(['api', 'profile']) ?? null) : null,
    file: profileFile === undefined ? null : resolve(profileFile),
  }
  return { known, profile, profileAnswer }
}

/**
 * Asks for all answers that are not given.
 * @param prompter asks the person; null takes the defaults
 * @throws LeadsheetError usage_invalid, naming all missing answers that have no default
 */
export async function completeAnswers(given: Given, prompter: Prompter | null, now: Date): Promise<Answers> {
  const known: Partial<Record<AnswerName, Answer>> = { ...given.known }
  const isOpen = given.profile !== null && !needsKey(profileFrom(given.profile))
  if (isOpen) known.key ??= answered('')
  for (const name of NAMES) {
    const { heading, standard } = TABLE[name]
    if (prompter !== null && heading !== undefined) prompter.say('', heading)
    const found = known[name]
    if (found !== undefined) prompter?.say(`  ${givenText(name, found)}`)
    else if (prompter !== null && name !== 'token') known[name] = await ask(prompter, name, known)
    else if (standard !== undefined) known[name] = answered(standard(known))
    if (name === 'schedule') prompter?.say(`  That is ${nextTimes(known, now)} …`)
  }
  const missing = NAMES.filter((name) => known[name] === undefined)
  if (missing.length > 0) {
    const lines = missing.map((name) => `  ${wayText(TABLE[name])}`).join('\n')
    throw new LeadsheetError('usage_invalid', `answers are missing, and nobody is asked here:\n${lines}`, {
      hint: `${shellCommand('init')} in a terminal asks for them; ${shellCommand('init --help')} shows all options.`,
    })
  }
  return { ...(known as Record<AnswerName, Answer>), ...given }
}

/** Returns the addresses of an answer. */
export function listIn(answer: Answer | undefined): readonly string[] {
  return answer === undefined || answer.value === NONE ? [] : splitList(answer.value)
}

async function ask(prompter: Prompter, name: AnswerName, known: Known): Promise<Answer> {
  const { question: text, path, standard, offered, fault = faultAt(path) } = TABLE[name]
  if (name === 'key') return answered((await prompter.askHidden(text)).trim())
  const value = await prompter.ask({ text, standard: standard?.(known) ?? offered?.(known), fault })
  return answered(name === 'mailUrl' ? await withLogin(prompter, value) : value)
}

/** Asks for the user and the hidden password of a mail server, if its address has none. */
async function withLogin(prompter: Prompter, address: string): Promise<string> {
  const url = new URL(address)
  if (url.protocol === 'file:' || url.password !== '') return address
  const user =
    decodeURIComponent(url.username) || (await prompter.ask({ text: 'User, or none', standard: NONE }))
  if (user === NONE) return address
  const password = await prompter.askHidden('Password (hidden)')
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`
  return address.replace(/^(smtps?:\/\/)(?:[^@/]*@)?/i, (_, scheme) => `${scheme}${login}`)
}

/**
 * Suggests a sender. If the user name for the mail server is a mail address, suggests that address. If mails
 * go into a folder, suggests a local address. Otherwise returns undefined.
 */
function senderFor(mailUrl: string): string | undefined {
  const { protocol, username } = new URL(mailUrl)
  const user = decodeURIComponent(username)
  if (addressesFault(user) === null) return `Lead reports <${user}>`
  return protocol === 'file:' ? 'Lead reports <leadsheet@localhost>' : undefined
}

/** Returns the fault of the first invalid address, or null if all addresses are valid. */
function addressesFault(text: string): string | null {
  const addresses = splitList(text)
  if (addresses.length === 0) return 'expected addresses with commas between them'
  for (const address of addresses) {
    const fault = settingFault(['alerts', 'recipients'], [address])
    if (fault !== null) return `${address}: ${fault}`
  }
  return settingFault(['alerts', 'recipients'], addresses)
}

/** Shows a given answer. Secrets are shown by their place alone. */
function givenText(name: AnswerName, { value, variable, file }: Answer): string {
  const { question } = TABLE[name]
  const place = variable ?? file
  const isSecret = name === 'key' || name === 'mailUrl' || name === 'token'
  if (isSecret && place !== null) return `${question}: in ${place}, which stays there`
  return `${question}: ${value || NONE}${variable === null ? '' : ` (${variable})`}`
}

function nextTimes({ schedule, timeZone }: Known, now: Date): string {
  const zone = timeZone?.value ?? 'UTC'
  const timing = { expression: schedule?.value ?? '', timeZone: zone, holidays: [] }
  const times: string[] = []
  for (let at = nextScheduledRun(timing, now); at !== null && times.length < 3; ) {
    times.push(localTime(at, zone))
    at = nextScheduledRun(timing, at)
  }
  return times.join(', ')
}

/** Names the option and the variable that give an answer. */
function wayText({ path, flag, fileFlag }: Row): string {
  const flags = [flag, fileFlag].filter((each) => each !== undefined).join(' or ')
  return `${flags} (or ${variablesFor(path)[0]})`
}

function answered(value: string): Answer {
  return { value, variable: null, file: null }
}

function faultAt(path: SettingPath): (value: string) => string | null {
  return (value) => settingFault(path, value)
}

/** Converts `--api-url` to `apiUrl`, as commander does. */
function optionName(flag: string): string {
  return flag.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function readFileText(flag: string, name: string, problems: string[]): string | undefined {
  try {
    const text = readFileSync(name, 'utf8').trim()
    if (text === '') problems.push(`${flag}: ${name} is empty`)
    return text || undefined
  } catch (thrown) {
    problems.push(`${flag}: cannot read ${name}: ${errorText(thrown)}`)
    return undefined
  }
}

/** Returns the time zone of this machine, or UTC if its name is not valid. */
function detectedZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  return settingFault(['time_zone'], timeZone) === null ? timeZone : 'UTC'
}
