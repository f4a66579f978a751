/** Secrets that can be told wherever they turn up, in whatever form: each has a word of its own in its midst. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DKIM_KEY } from './dkim.ts'

/** Messages alone, which no encoding but base64 and hexadecimal changes. */
const WORDS = {
  key: 'CANARYkeyQWERTZ',
  password: 'CANARYpasswordASDFGH',
  webhook: 'CANARYwebhookYXCVBN',
  ping: 'CANARYpingPOIUZT',
  token: 'CANARYtokenMNBVCX',
  changed: 'CANARYchangedLKJHGF',
  events: 'CANARYeventsGZUIOP',
  registered: 'CANARYregisteredEDCRFV',
}

/** The secrets themselves, with what formats have to encode around the word. */
export const CANARIES = {
  key: `k+/=&"<${WORDS.key}>%41'`,
  password: `p ä:@/?#"<${WORDS.password}>%41\\`,
  /** Parts of addresses. */
  webhook: `T01-${WORDS.webhook}`,
  ping: `9b1d-${WORDS.ping}`,
  token: `t+/=&"<${WORDS.token}>%41'`,
  dkim: DKIM_KEY.privateKey,
  /** Of settings that are read later, and are wrong. */
  changed: `k-${WORDS.changed}`,
  /** Of webhooks at the upstream: registered by hand, and by itself. */
  events: `e+/=&"<${WORDS.events}>%41'`,
  registered: `r+/=&"<${WORDS.registered}>%41'`,
}

export const USER = 'reports@example.com'

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** What far sides say of the secrets that they know, each in some ways. */
export const QUOTED = {
  key: [
    ...[CANARIES.key, `Bearer ${CANARIES.key}`, base64(`${CANARIES.key}:`), base64(`user:${CANARIES.key}`)],
    ...[encodeURIComponent(CANARIES.key), JSON.stringify(CANARIES.key)],
  ].join(' | '),
  events: [CANARIES.events, CANARIES.registered, base64(CANARIES.registered)].join(' '),
  password: [
    ...[CANARIES.password, base64(CANARIES.password), base64(`\0${USER}\0${CANARIES.password}`)],
    encodeURIComponent(CANARIES.password),
  ].join(' '),
}

/** A server on this machine, with who logs in. */
export function smtpUrl(port: number): string {
  const [username, password] = [USER, CANARIES.password].map(encodeURIComponent)
  return `smtp://${username}:${password}@127.0.0.1:${port}`
}

/** Lines in the midst of the PEM. */
const PEM_LINES = CANARIES.dkim.split('\n').filter((line) => line.length === 64)

/** Found in the bytes: `password in base64`, each once. */
export function canariesIn(bytes: Buffer): string[] {
  const found = Object.entries(WORDS).flatMap(([name, word]) =>
    Object.entries(formsOf(word)).flatMap(([form, texts]) =>
      texts.some((text) => bytes.includes(text)) ? [`${name} ${form}`] : [],
    ),
  )
  return PEM_LINES.some((line) => bytes.includes(line)) ? [...found, 'dkim'] : found
}

/** All files below a folder in which there is one, with what. */
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
    // Without the messages that what stands before and after has a part in.
    return text.slice(before.length === 0 ? 0 : 4, -4)
  })
  return { plain: [word], 'in base64': base64, 'in hexadecimal': [Buffer.from(word).toString('hex')] }
}
