/** The questions of `leadsheet init` about a login by OAuth, for the API and for mail. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { settingFault } from '../../config/errors.ts'
import { settingsSchema } from '../../config/schema.ts'
import { errorText } from '../../errors.ts'
import type { Prompter } from '../terminal/prompter.ts'

/** The answer to the question for a key or a password that leads to these questions. */
export const OAUTH = 'oauth'
/** Stands for "no addresses", "no user" or "no dashboard" in an answer. */
export const NONE = 'none'

type LoginName = keyof typeof QUESTIONS

/** The settings below `oauth`; `private_key_file` is an absolute path. */
export type LoginAnswers = { readonly [Name in LoginName]?: string }

interface Row {
  readonly text: string
  /** Says before the question what the answers mean. */
  readonly note?: string
  /** The grants that need it; all if absent. */
  readonly grants?: readonly string[]
  readonly standard?: string
  readonly isHidden?: true
}

const WITH_CLIENT = ['client_credentials', 'refresh_token']
const SIGNED = ['jwt_bearer']

const QUESTIONS = {
  token_url: { text: 'Token URL' },
  grant: {
    text: 'Grant',
    note: `    client_credentials: the program logs in as itself, with an id and a secret
    refresh_token: a person has allowed it once, which gave this token
    jwt_bearer: it signs its requests with a private key`,
    standard: 'client_credentials',
  },
  client_id: { text: 'Client id', grants: WITH_CLIENT },
  client_secret: {
    text: 'Client secret',
    grants: WITH_CLIENT,
    standard: NONE,
    isHidden: true,
  },
  client_auth: {
    text: 'How id and secret are sent: basic (in a header) or body',
    grants: WITH_CLIENT,
    standard: 'basic',
  },
  refresh_token: { text: 'Refresh token', grants: ['refresh_token'], isHidden: true },
  private_key_file: { text: 'File with the private key', grants: SIGNED },
  issuer: { text: 'Issuer, such as the client id', grants: SIGNED },
  subject: { text: `Subject, the user to log in as, or ${NONE}`, grants: SIGNED, standard: NONE },
  audience: { text: `Audience, or ${NONE} for the token URL`, grants: SIGNED, standard: NONE },
  scope: { text: `Scope, or ${NONE}`, standard: NONE },
} satisfies Readonly<Record<string, Row>>

const ROWS = Object.entries(QUESTIONS) as readonly (readonly [LoginName, Row])[]

/** The path of the settings of the login: `api.oauth` or `mail.oauth`. */
type Owner = 'api' | 'mail'

/**
 * Asks until the answers together are a valid login.
 * @param kept earlier answers, or those of a provider, which Enter keeps
 */
export async function askLogin(
  prompter: Prompter,
  owner: Owner,
  kept: LoginAnswers = {},
): Promise<LoginAnswers> {
  const answers: { [Name in LoginName]?: string } = {}
  for (const [name, { text, note, grants, standard, isHidden }] of ROWS) {
    if (grants?.includes(answers.grant ?? '') === false) continue
    const fault = (value: string) => (value === NONE && standard === NONE ? null : faultOf(name, value))
    const enter = kept[name] ? '; Enter keeps it' : standard === NONE ? '; Enter for none' : ''
    if (note !== undefined && kept[name] === undefined) prompter.say(note)
    const offered = kept[name] ?? (name === 'issuer' ? issuerIn(answers.private_key_file) : standard)
    const value = isHidden
      ? (await prompter.askHidden(`${text} (stays hidden${enter})`)).trim() || (kept[name] ?? '')
      : await prompter.ask({ text, standard: offered, fault })
    if (value !== '' && value !== NONE) answers[name] = name === 'private_key_file' ? resolve(value) : value
  }
  const parsed = settingsSchema.safeParse(treeOf(owner, answers))
  if (parsed.success) return answers
  const lines = parsed.error.issues.map(({ path, message }) => `  ${path.join('.')}: expected ${message}`)
  prompter.say(...lines)
  return askLogin(prompter, owner, answers)
}

/** Returns the login as the settings will have it once they are written. */
export function oauthOf(owner: Owner, answers: LoginAnswers | null): Config['api']['oauth'] {
  return answers && settingsSchema.parse(treeOf(owner, answers))[owner].oauth
}

function treeOf(owner: Owner, { private_key_file: file, ...oauth }: LoginAnswers) {
  const key = file === undefined ? {} : { private_key: readFileSync(file, 'utf8').trim() }
  return { [owner]: { oauth: { ...oauth, ...key } } }
}

/** Google names the account beside its key. */
function issuerIn(file = ''): string | undefined {
  try {
    const { client_email: email }: { client_email?: unknown } = JSON.parse(readFileSync(file, 'utf8'))
    return typeof email === 'string' ? email : undefined
  } catch {
    return undefined
  }
}

function faultOf(name: LoginName, value: string): string | null {
  if (name !== 'private_key_file') return settingFault(['api', 'oauth', name], value)
  try {
    return settingFault(['api', 'oauth', 'private_key'], readFileSync(value, 'utf8').trim())
  } catch (thrown) {
    return `cannot read it: ${errorText(thrown)}`
  }
}
