/**
 * Removes secrets from texts. A known secret is found by its value, in every encoding that a protocol or a
 * format may use. An unknown secret is found by the name before it, such as `token=`.
 */

export const REDACTED = '[redacted]'
/** The minimum length of a secret that is replaced. A shorter secret could equal an ordinary word. */
const SHORTEST = 4
/** Inside base64, shorter sequences of characters occur by chance. */
const SHORTEST_INSIDE = 6
/** Each line of a secret of several lines, such as a PEM key, is replaced from this length on. */
const LINE_MIN = 16

/** Returns a function that replaces every secret in a text with `[redacted]`. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = formsOf(secrets.filter((secret) => secret.length >= SHORTEST))
  if (forms.length === 0) return (text) => text
  const pattern = new RegExp(forms.map(patternOf).join('|'), 'gu')
  return (text) => text.replace(pattern, REDACTED)
}

/** The secrets that this process has learned since its start, such as access tokens. */
const learned = new Set<string>()
/** Older ones have expired, and to look for thousands of them in each line would take long. */
const LEARNED_MAX = 50
let withoutKnown: (text: string) => string = (text) => text

/** Remembers a secret that no setting holds, and returns it. Every log and error of the process hides it. */
export function learnSecret(secret: string): string {
  if (learned.has(secret)) return secret
  learned.add(secret)
  if (learned.size > LEARNED_MAX) for (const oldest of learned.values().take(1)) learned.delete(oldest)
  withoutKnown = redactor([...learned])
  return secret
}

export function withoutLearnedSecrets(text: string): string {
  return withoutKnown(text)
}

/** A shorter secret, or one of digits, could be a word or a number of the data. */
const SHORTEST_IN_DATA = 8

/** Returns a function that replaces every secret in data in UTF-8 or in another superset of ASCII. */
export function dataRedactor(secrets: readonly string[]): (data: Buffer) => Buffer {
  const chosen = secrets.filter((secret) => secret.length >= SHORTEST_IN_DATA && /\D/.test(secret))
  const redact = redactor(chosen)
  // Most data contain no secret. Their bytes are only searched for the parts that no format encodes.
  const parts = formsOf(chosen).map(plainPartOf)
  return (data) => {
    if (!parts.some((part) => data.includes(part))) return data
    // Latin-1 has a character for each byte, so the other bytes stay as they are.
    return Buffer.from(redact(data.toString('latin1')), 'latin1')
  }
}

/** Returns the longest run of letters and digits. */
function plainPartOf(form: string): string {
  return form.split(/[^A-Za-z\d]+/).reduce((longest, run) => (run.length > longest.length ? run : longest))
}

/** Returns the secrets and their base64 encodings, the longest first, because one may be a part of another. */
function formsOf(secrets: readonly string[]): string[] {
  const texts = secrets.flatMap((secret) => {
    const lines = secret.split(/\r?\n/).filter((line) => line.length >= LINE_MIN && !line.startsWith('-----'))
    return [secret, ...lines]
  })
  const forms = texts.flatMap((text) => [text, ...base64Encoded(text)])
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}

const HTML: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

/**
 * Returns a regular expression of a text in which each sign may stand as it is, escaped in JSON, in HTML, in a
 * URL or in a form. A log line is JSON in which a text may be JSON again, and a URL may stand in a URL, so a
 * sign may be escaped several times.
 */
function patternOf(text: string): string {
  return Array.from(text, (sign) => {
    if (/[A-Za-z\d]/.test(sign)) return sign
    const code = sign.codePointAt(0) ?? 0
    const bytes = [...Buffer.from(sign)].map((byte) => `%(?:25){0,2}${hexOf(byte, 2)}`)
    const units = sign.split('').map((unit) => `\\\\{1,8}u${hexOf(unit.charCodeAt(0), 4)}`)
    const inLatin1 = [...Buffer.from(sign)].map((byte) => `\\u{${byte.toString(16)}}`)
    return `(?:${[
      `\\\\{0,8}\\u{${code.toString(16)}}`,
      inLatin1.join(''),
      bytes.join(''),
      units.join(''),
      `&(?:#0*${code}|#[xX]0*${hexOf(code, 1)}${sign in HTML ? `|${HTML[sign]}` : ''});`,
      ...(sign === ' ' ? ['\\+'] : []),
      ...(sign === '\n' ? ['\\\\{1,8}n'] : []),
      ...(sign === '\r' ? ['\\\\{1,8}r'] : []),
    ].join('|')})`
  }).join('')
}

/** Returns a regular expression of a hexadecimal number, whose digits may be capital letters. */
function hexOf(value: number, digits: number): string {
  const small = value.toString(16).padStart(digits, '0')
  return small.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}

/** Also inside a longer text, because SMTP and HTTP logins encode the user with the password. */
function base64Encoded(text: string): string[] {
  const bytes = Buffer.from(text)
  const inside = text.length < SHORTEST_INSIDE ? [] : [0, 1, 2].map((before) => base64Inside(text, before))
  return [
    ...[bytes.toString('base64'), bytes.toString('base64url'), ...inside],
    ...inside.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}

/**
 * Returns the base64 characters of a text that stands inside a longer text. The characters at both ends are
 * left out if they also depend on neighbouring bytes.
 * @param bytesBefore the number of bytes before the text, modulo 3
 */
function base64Inside(text: string, bytesBefore: number): string {
  const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(text)])
  return bytes.toString('base64').slice(Math.ceil((bytesBefore * 8) / 6), Math.floor((bytes.length * 8) / 6))
}

const NAMES =
  '(?:proxy-)?authorization|(?:set-)?cookie|(?:x-)?api[_-]?key|(?:\\w+_)?(?:pass|password|secret|token)'

/** The patterns of secrets that have a name. The name is kept and the value is replaced. */
const NAMED: readonly RegExp[] = [
  new RegExp(`("(?:${NAMES})"\\s*:\\s*")(?:[^"\\\\]|\\\\.)+`, 'gi'),
  // Matches JSON that is quoted inside JSON.
  new RegExp(`(\\\\"(?:${NAMES})\\\\"\\s*:\\s*\\\\")(?:[^"\\\\]|\\\\\\\\.)+`, 'gi'),
  /\b((?:bearer|basic) +)[\w.~+/=-]{16,}/gi,
  /\b((?:x-api-key|authorization): *)(?!(?:bearer|basic)\b)[^\s"\\`]+/gi,
  /\b((?:set-)?cookie: *)[^\n"\\]+/gi,
  /([?&](?:api[_-]?key|key|access_token|token|secret|password|pass)=)[^&\s"'\\<>]+/gi,
  /(\/\/[^\s/:@"]*:)[^\s/@"]+(?=@)/g,
  /\b(whsec_)[\w+/=-]+/g,
]

/** Marked by a name in JSON, by a header, by a URL or by a prefix of their own. */
export function withoutNamedSecrets(text: string): string {
  return NAMED.reduce((kept, pattern) => kept.replace(pattern, `$1${REDACTED}`), text)
}
