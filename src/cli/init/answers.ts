/** What the first settings are made of. What the environment gives stays there alone, for it would win over the file. */
import { randomBytes } from 'node:crypto'
import type { ProfileData } from '../../config/profile-file.ts'
import { settingFault } from '../../config/setting-fault.ts'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import { parseProfile } from '../../upstream/profile/profile.ts'
import { needsKey } from '../upstream.ts'

export interface Answer<Value = string> {
  readonly value: Value
  /** The variable of the environment that gives it; null where none does. */
  readonly variable: string | null
  /** The file that holds it already, absolute; null where none does. */
  readonly file: string | null
}

export interface Answers {
  readonly apiUrl: Answer
  /** Empty where the service asks for none. */
  readonly key: Answer
  /** Null for that of the reference service. */
  readonly profile: Answer<ProfileData | null>
  /** With its password. */
  readonly mailUrl: Answer
  readonly from: Answer
  readonly recipients: Answer<readonly string[]>
  /** Empty where nobody is told by mail. */
  readonly operators: Answer<readonly string[]>
  readonly timeZone: Answer
  readonly schedule: Answer
  readonly listen: Answer
  /** What the window is signed in to with; null where there is none. */
  readonly token: Answer<string | null>
}

/** Those that nobody has to be asked for. */
export type Given = { readonly [Name in keyof Answers]?: Answers[Name] | undefined }

/** What stands for nobody in the place of addresses, and for no window. */
export const NONE = 'none'
export const STANDARD = { schedule: 'every weekday at 07:00', listen: '127.0.0.1:8080' } as const

export function said<Value>(value: Value): Answer<Value> {
  return { value, variable: null, file: null }
}

/** Addresses between commas. */
export function addressesIn(text: string): string[] {
  return text
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '')
}

/** The fault of the first that has one. */
export function addressesFault(text: string): string | null {
  const addresses = addressesIn(text)
  if (addresses.length === 0) return 'expected addresses with commas between them'
  for (const address of addresses) {
    const fault = settingFault(['operators', 'recipients'], [address])
    if (fault !== null) return `${address}: ${fault}`
  }
  return settingFault(['operators', 'recipients'], addresses)
}

/**
 * All answers without asking anybody: what is not given is as a person would leave it.
 * @throws LeadsheetError usage_invalid, with all that nobody can know
 */
export function completed(given: Given): Answers {
  const { apiUrl, mailUrl, from, recipients } = given
  const profile = given.profile ?? said(null)
  const isOpen = profile.value !== null && !needsKey(parseProfile(profile.value.data, profile.value.nameOf))
  const key = given.key ?? (isOpen ? said('') : undefined)
  if (!apiUrl || !key || !mailUrl || !from || !recipients) {
    const missing = [
      apiUrl ? '' : '--api-url (or LEADSHEET_API_URL)',
      key ? '' : '--key-file (or LEADSHEET_API_KEY)',
      mailUrl ? '' : '--smtp-url or --smtp-url-file (or LEADSHEET_SMTP_URL)',
      from ? '' : '--from (or LEADSHEET_FROM)',
      recipients ? '' : '--recipients (or LEADSHEET_RECIPIENTS)',
    ].filter((name) => name !== '')
    const lines = missing.map((name) => `  ${name}`).join('\n')
    throw new LeadsheetError('usage_invalid', `answers are missing, and nobody is asked here:\n${lines}`, {
      hint: `${shellCommand('init')} in a terminal asks for them; ${shellCommand('init --help')} shows all options.`,
    })
  }
  return {
    ...{ apiUrl, key, profile, mailUrl, from, recipients },
    operators: given.operators ?? said(recipients.value.slice(0, 1)),
    timeZone: given.timeZone ?? said(detectedZone()),
    schedule: given.schedule ?? said(STANDARD.schedule),
    ...windowOf(given.listen ?? said(STANDARD.listen), given.token),
  }
}

/** A window has a token to sign in with. */
export function windowOf(
  listen: Answer,
  token: Answer<string | null> | undefined,
): Pick<Answers, 'listen' | 'token'> {
  return { listen, token: token ?? said(listen.value === NONE ? null : newToken()) }
}

function newToken(): string {
  return randomBytes(24).toString('base64url')
}

/** That of the machine. */
export function detectedZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  return settingFault(['time_zone'], timeZone) === null ? timeZone : 'UTC'
}
