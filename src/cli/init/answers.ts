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
import { pathText, type SettingPath } from '../../config/setting-path.ts'
import { readProfile } from '../../config/settings-file.ts'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'
import { upperFirst } from '../../report/words/clean-text.ts'
import { COUNTRIES } from '../../schedule/holidays.ts'
import type { Prompter, Question } from '../terminal/prompter.ts'
import type { Access } from './find-profile.ts'
import { askLogin, type LoginAnswers, NONE, OAUTH } from './login-answers.ts'
import { askMail, type MailAnswers, type TryMail } from './mail-answers.ts'

export interface Answer {
  /** The text of the answer. Addresses are separated by commas. */
  readonly value: string
  /** The environment variable that gives the value; null if none does. */
  readonly variable: string | null
  /** The absolute path of the file that already holds the value; null if there is none. */
  readonly file: string | null
}

interface Row {
  readonly path: SettingPath
  /** The meaning of the answer, for the help of the options and for the question. */
  readonly about: string
  /** The question, if it is another text. */
  readonly asked?: string
  /** The option that gives the value; absent if none does. */
  readonly flag?: string
  /** The option that names a file with the value; absent if none does. */
  readonly fileFlag?: string
  /** False if nobody is asked. */
  readonly isAsked?: false
  /** The value in the environment's settings. */
  readonly read: (config: Config) => string | null | undefined
  /** The value if nobody is asked; the person is offered it too. */
  readonly standard?: (known: Known) => string
  /** The value that the person is offered, if there is no standard. */
  readonly offered?: (known: Known) => string | undefined
  readonly fault?: (value: string) => string | null
}

type AnswerName =
  | ('apiUrl' | 'profile' | 'key')
  | ('mailUrl' | 'from' | 'recipients' | 'alertRecipients')
  | ('timeZone' | 'holidays' | 'schedule' | 'listen' | 'token')

export type Answers = Readonly<Record<AnswerName, Answer>> & {
  /** The login by OAuth; null if there is a key or none is needed. */
  readonly login: LoginAnswers | null
  /** The login by OAuth for mail; null if there is none. */
  readonly mailLogin: LoginAnswers | null
  /** The text of a profile that a probe of the service made; null if there is none. */
  readonly probed: string | null
}
/** Tries the service with these answers, and tells the person what fails. */
export type TryAccess = (answers: Pick<Answers, 'apiUrl' | 'key' | 'profile' | 'login'>) => Promise<Access>
type Known = { readonly [Name in AnswerName]?: Answer }

/** In the order in which the person is asked. */
export const QUESTIONS: Readonly<Record<AnswerName, Row>> = {
  apiUrl: {
    path: ['api', 'url'],
    about: 'address of the service that the leads come from',
    flag: '--api-url',
    read: ({ api }) => api.url,
    // The address at which `leadsheet service run` serves the reference service.
    offered: () => 'http://127.0.0.1:8484/api/v1',
  },
  profile: {
    path: ['api', 'profile'],
    about: 'profile of the service (default: the reference service)',
    fileFlag: '--profile',
    isAsked: false,
    read: ({ api }) => api.profile?.origin,
    standard: () => '',
  },
  key: {
    path: ['api', 'key'],
    about: 'API key of the service',
    fileFlag: '--key-file',
    read: ({ api }) => api.key?.reveal(),
  },
  mailUrl: {
    path: ['mail', 'url'],
    about: 'mail server, such as smtp://mail.example.com:587, or folder for .eml files',
    asked: 'Mail server, such as smtp://mail.example.com:587, or microsoft, google, or folder for .eml files',
    flag: '--mail-url',
    fileFlag: '--mail-url-file',
    read: ({ mail }) => mail.url?.reveal(),
    offered: () => 'file:./outbox',
  },
  from: {
    path: ['mail', 'from'],
    about: 'sender of the report',
    flag: '--from',
    read: ({ mail }) => mail.from,
    offered: ({ mailUrl }) => mailUrl && senderFor(mailUrl.value),
  },
  recipients: {
    path: ['recipients'],
    about: 'addresses for the report, with commas between them',
    flag: '--recipients',
    read: (config) => config.recipients.join(', '),
    fault: addressesFault,
  },
  alertRecipients: {
    path: ['alerts', 'recipients'],
    about: `addresses for alerts, or ${NONE} (default: the first recipient)`,
    flag: '--alert-recipients',
    read: ({ alerts }) => alerts.recipients.join(', '),
    standard: ({ recipients }) => listIn(recipients)[0] ?? NONE,
    fault: (text) => (text === NONE ? null : addressesFault(text)),
  },
  timeZone: {
    path: ['time_zone'],
    about: "time zone of the report and its schedule (default: this machine's)",
    flag: '--time-zone',
    read: (config) => config.timeZone,
    standard: detectedZone,
  },
  holidays: {
    path: ['holidays'],
    about: 'public holidays (default: those of the country of the time zone)',
    isAsked: false,
    read: ({ holidays }) => holidays.join(', '),
    standard: ({ timeZone }) => countryOf(timeZone?.value ?? '') ?? NONE,
  },
  schedule: {
    path: ['sync', 'schedule'],
    about: 'when the report comes, in words or as cron (default: every working day at 07:00)',
    flag: '--schedule',
    read: () => null,
    standard: () => 'every working day at 07:00',
  },
  listen: {
    path: ['web', 'listen'],
    about: `where the dashboard listens, or ${NONE} (default: 127.0.0.1:8080)`,
    flag: '--listen',
    read: ({ web }) => listenText(web.listen),
    standard: () => '127.0.0.1:8080',
  },
  token: {
    path: ['web', 'token'],
    about: 'token of the dashboard',
    isAsked: false,
    read: ({ web }) => web.token?.reveal(),
    standard: ({ listen }) => (listen?.value === NONE ? '' : randomBytes(24).toString('base64url')),
  },
}
const ROWS = Object.entries(QUESTIONS) as readonly (readonly [AnswerName, Row])[]

/** The options of `leadsheet init` as commander returns them. */
export type AnswerOptions = { readonly [Option in string]?: string | boolean | undefined }

/**
 * Reads the answers that are known before anybody is asked, from the options and the environment.
 * @param environment the settings that come from the environment alone
 * @throws LeadsheetError usage_invalid
 */
export function readGiven(options: AnswerOptions, environment: Config): Known {
  const known: Partial<Record<AnswerName, Answer>> = {}
  for (const [name, { path, flag, fileFlag, read, fault = faultAt(path) }] of ROWS) {
    const text = optionValue(options, flag)
    const file = optionValue(options, fileFlag)
    const value = file === undefined || fileFlag === undefined ? text : readFileText(fileFlag, file)
    if (value === undefined) {
      const variable = environment.sources[pathText(path)]?.split(' ').at(-1)
      const given = read(environment)
      if (variable !== undefined && given != null) known[name] = { value: given, variable, file: null }
      continue
    }
    const wrong = name === 'profile' ? null : fault(value)
    if (wrong !== null) throw mistake(file === undefined ? flag : fileFlag, wrong)
    known[name] = { value, variable: null, file: file === undefined ? null : resolve(file) }
  }
  if (URL.parse(optionValue(options, '--mail-url') ?? '')?.password)
    throw mistake(
      '--mail-url',
      'others can see a password there; give a file that holds it by --mail-url-file',
    )
  return known
}

/**
 * Asks for all answers that are not given.
 * @param prompter asks the person; null takes the defaults
 * @param tries are not called without a person
 * @throws LeadsheetError usage_invalid, naming all missing answers that have no default; config_invalid for a
 * profile that cannot be used
 */
export async function completeAnswers(
  given: Known,
  prompter: Prompter | null,
  tries: { readonly access: TryAccess; readonly mail: TryMail },
) {
  const known: Partial<Record<AnswerName, Answer>> = { ...given }
  let mail: MailAnswers | null = null
  let access: Pick<Answers, 'key' | 'login' | 'probed'> | null = null
  const profile = given.profile?.file ?? given.profile?.value
  if (profile && !needsKey(profileFrom(readProfile(resolve(profile), process.cwd()))))
    known.key ??= answered('')
  for (const [name, row] of ROWS) {
    if (name === 'key' && prompter !== null) {
      access = await askAccess(prompter, known, tries.access)
      known.key = access.key
    }
    if (known[name] !== undefined) continue
    if (prompter !== null && name === 'mailUrl') {
      mail = await askMail(prompter, questionOf(name, known), tries.mail)
      known[name] = answered(mail.url)
    } else if (prompter !== null && row.isAsked !== false)
      known[name] = answered(await prompter.ask(questionOf(name, known, mail?.mailbox)))
    else if (row.standard !== undefined) known[name] = answered(row.standard(known))
  }
  const missing = ROWS.filter(([name]) => known[name] === undefined)
  if (missing.length > 0) {
    const lines = missing.map(([, row]) => `  ${wayText(row)}`).join('\n')
    throw new LeadsheetError('usage_invalid', `answers are missing, and nobody is asked here:\n${lines}`, {
      hint: `${shellCommand('init')} in a terminal asks for them, and for a login by OAuth, which has no options; ${shellCommand('init --help')} shows all options.`,
    })
  }
  return {
    ...(known as Record<AnswerName, Answer>),
    login: null,
    probed: null,
    ...access,
    mailLogin: mail?.login ?? null,
  }
}

/** Returns the addresses of an answer. */
export function listIn(answer: Answer | undefined): readonly string[] {
  return answer === undefined || answer.value === NONE ? [] : splitList(answer.value)
}

/** Asks for the key or the login unless there is one, and tries it. After a refusal, asks once more. */
async function askAccess(prompter: Prompter, known: Known, tryAccess: TryAccess) {
  const { apiUrl = answered(''), profile = answered(''), key: given } = known
  let key = given ?? answered('')
  let login: LoginAnswers | null = null
  for (let isAgain = false; ; isAgain = true) {
    if (given === undefined) {
      const value: string = login === null ? await askKey(prompter, key.value) : OAUTH
      login = value === OAUTH ? await askLogin(prompter, 'api', login ?? {}) : null
      key = answered(login === null ? value : '')
    }
    const { isRefused, probed } = await tryAccess({ apiUrl, profile, key, login })
    if (!isRefused || isAgain || given !== undefined) return { key, login, probed }
    prompter.say('  Correct it here, or in the files later. Enter keeps an answer.')
  }
}

async function askKey(prompter: Prompter, kept: string): Promise<string> {
  const enter = kept === '' ? 'Enter for none' : 'Enter keeps it'
  const text = `${upperFirst(QUESTIONS.key.about)} (stays hidden; ${enter}; ${OAUTH} for a login by OAuth)`
  return (await prompter.askHidden(text)).trim() || kept
}

/** @param mailbox the mailbox that sends, if it is known */
function questionOf(name: AnswerName, known: Known, mailbox?: string | null): Question {
  const { about, asked, path, standard, offered, fault = faultAt(path) } = QUESTIONS[name]
  const text = asked ?? upperFirst(about.replace(/ \(default: .*\)$/, ''))
  const sender = name === 'from' && mailbox ? `Lead reports <${mailbox}>` : undefined
  return { text, standard: sender ?? standard?.(known) ?? offered?.(known), fault }
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

/** Returns the value of `--api-url`, which commander calls `apiUrl`. */
function optionValue(options: AnswerOptions, flag = ''): string | undefined {
  const value = options[flag.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())]
  return typeof value === 'string' ? value : undefined
}

function readFileText(flag: string, name: string): string {
  try {
    const text = readFileSync(name, 'utf8').trim()
    if (text !== '') return text
  } catch (thrown) {
    throw mistake(flag, `cannot read ${name}: ${errorText(thrown)}`)
  }
  throw mistake(flag, `${name} is empty`)
}

function mistake(flag: string | undefined, text: string): LeadsheetError {
  return new LeadsheetError('usage_invalid', `${flag}: ${text}`, {
    hint: `${shellCommand('init --help')} shows all options.`,
  })
}

/** Returns the country of a time zone, such as `DE`; null for a zone without one, such as UTC. */
function countryOf(timeZone: string): string | null {
  const known = new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone
  const zonesOf = (country: string) => new Intl.Locale(`und-${country}`).getTimeZones() ?? []
  return COUNTRIES.find((country) => zonesOf(country).includes(known)) ?? null
}

/** Returns the time zone of this machine, or UTC if its name is not valid. */
function detectedZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  return settingFault(['time_zone'], timeZone) === null ? timeZone : 'UTC'
}
