/** Secrets that can be recognised in any output and encoding. Each contains a word of its own. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DKIM_KEY } from './dkim.ts'

/** The words consist of letters, so only base64 and hexadecimal encoding change them. */
const WORDS = {
  key: 'CANARYkeyQWERTZ',
  password: 'CANARYpasswordASDFGH',
  webhook: 'CANARYwebhookYXCVBN',
  ping: 'CANARYpingPOIUZT',
  token: 'CANARYtokenMNBVCX',
  events: 'CANARYeventsGZUIOP',
  registered: 'CANARYregisteredEDCRFV',
  access: 'CANARYaccessRFVTGB',
  refresh: 'CANARYrefreshZHNUJM',
  client: 'CANARYclientIKOLPQ',
  second: 'CANARYsecondWSXEDC',
}

/** The secrets. Around each word stand characters that output formats have to encode. */
export const CANARIES = {
  key: `k+/=&"<${WORDS.key}>%41'`,
  password: `p ä:@/?#"<${WORDS.password}>%41\\`,
  /** Parts of addresses. */
  webhook: `T01-${WORDS.webhook}`,
  ping: `9b1d-${WORDS.ping}`,
  token: `t+/=&"<${WORDS.token}>%41'`,
  dkim: DKIM_KEY.privateKey,
  /** The secrets of webhooks at the upstream: one registered by hand, one registered automatically. */
  events: `e+/=&"<${WORDS.events}>%41'`,
  registered: `r+/=&"<${WORDS.registered}>%41'`,
  /** Tokens of a login, the secret of its client, and the second secret of a profile. */
  access: `a+/=&"<${WORDS.access}>%41'`,
  refresh: `f+/=&"<${WORDS.refresh}>%41'`,
  client: `c+/=&"<${WORDS.client}>%41'`,
  second: `s+/=&"<${WORDS.second}>%41'`,
}

export const USER = 'reports@example.com'

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** The texts in which servers quote the secrets that they know, in several forms. */
export const QUOTED = {
  key: [quotedForms(CANARIES.key), base64(`${CANARIES.key}:`), base64(`user:${CANARIES.key}`)].join(' | '),
  events: [CANARIES.events, CANARIES.registered, base64(CANARIES.registered)].join(' '),
  password: [quotedForms(CANARIES.password), base64(`\0${USER}\0${CANARIES.password}`)].join(' '),
}

/** Returns the text in which a server quotes a secret in several forms. */
export function quotedForms(secret: string): string {
  const forms = [
    secret,
    `Bearer ${secret}`,
    base64(secret),
    encodeURIComponent(secret),
    JSON.stringify(secret),
  ]
  return forms.join(' | ')
}

/** Returns the URL of a mail server on this machine, with a login. */
export function smtpUrl(port: number): string {
  const [username, password] = [USER, CANARIES.password].map(encodeURIComponent)
  return `smtp://${username}:${password}@127.0.0.1:${port}`
}

/** The whole lines inside the PEM block. */
const PEM_LINES = CANARIES.dkim.split('\n').filter((line) => line.length === 64)

/** Lists the secrets found in the bytes with their encoding, such as `password in base64`, each once. */
export function canariesIn(bytes: Buffer): string[] {
  const found = Object.entries(WORDS).flatMap(([name, word]) =>
    Object.entries(formsOf(word)).flatMap(([form, texts]) =>
      texts.some((text) => bytes.includes(text)) ? [`${name} ${form}`] : [],
    ),
  )
  return PEM_LINES.some((line) => bytes.includes(line)) ? [...found, 'dkim'] : found
}

/** Lists all files below a folder that contain a secret, with the secrets found. */
export function canariesBelow(folder: string): string[] {
  return filesBelow(folder).flatMap((path) =>
    canariesIn(readFileSync(join(folder, path))).map((found) => `${path}: ${found}`),
  )
}

export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(folder.length + 1))
}

function formsOf(word: string): Readonly<Record<string, readonly string[]>> {
  const base64 = ['', 'a', 'ab'].map((before) => {
    const text = Buffer.from(`${before}${word}`).toString('base64')
    // Removes the letters at both ends, because they also depend on the neighbouring bytes.
    return text.slice(before.length === 0 ? 0 : 4, -4)
  })
  return { plain: [word], 'in base64': base64, 'in hexadecimal': [Buffer.from(word).toString('hex')] }
}
