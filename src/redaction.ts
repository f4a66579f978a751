/**
 * Removes secrets from texts. Known secrets are found by their value, in every form in which a protocol or
 * format may write the value; unknown secrets are found by the name before them, such as `token=`.
 */

const REDACTED = '[redacted]'
/** The minimum length of a secret to be replaced. A shorter secret could equal an ordinary word. */
const SHORTEST = 4
/**
 * The minimum length of a secret to be found inside base64, where short sequences of characters occur by
 * chance.
 */
const SHORTEST_INSIDE = 6
/**
 * The minimum length of a line to be replaced on its own, if the secret has several lines, as a PEM key has.
 */
const LINE_MIN = 16

/** Returns a function that replaces every secret in a text with `[redacted]`. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.filter((secret) => secret.length >= SHORTEST).flatMap(formsOf)
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length)
  return (text) => longestFirst.reduce((kept, form) => kept.replaceAll(form, REDACTED), text)
}

function formsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= LINE_MIN && !line.startsWith('-----'))
  const written = [...new Set([secret, ...lines])].flatMap((text) => [
    text,
    ...percentEncoded(text),
    htmlEncoded(text),
    ...base64Encoded(text),
  ])
  // A log line is JSON, and a text in it may be JSON again.
  const quoted = written.map(inJson)
  return [...written, ...quoted, ...quoted.map(inJson)]
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/**
 * Encodes a text as in URL queries, in forms and in the password of a URL; each also with hexadecimal digits
 * in lower case, as some programs write them.
 */
function percentEncoded(text: string): string[] {
  const url = new URL('http://localhost')
  url.password = text
  const forms = [
    encodeURIComponent(text.toWellFormed()),
    new URLSearchParams([['', text]]).toString().slice(1),
    url.password,
  ]
  return forms.flatMap((form) => [form, form.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase())])
}

const HTML: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;', '`': '&#x60;', '=': '&#x3D;' },
}

/** Escapes a text for HTML in the same way as Handlebars. */
function htmlEncoded(text: string): string {
  return text.replace(/[&<>"'`=]/g, (sign) => HTML[sign] ?? sign)
}

/**
 * Encodes a secret in base64, both alone and inside a longer text, because SMTP and HTTP logins encode the
 * user together with the password.
 */
function base64Encoded(text: string): string[] {
  const bytes = Buffer.from(text)
  const inside = text.length < SHORTEST_INSIDE ? [] : [0, 1, 2].map((before) => base64Inside(text, before))
  return [
    ...[bytes.toString('base64'), bytes.toString('base64url'), ...inside],
    ...inside.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}

/**
 * Returns the base64 characters of a text that follows `bytesBefore` other bytes (modulo 3), without the
 * characters at its ends that also depend on other bytes.
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

/**
 * Removes values that are marked as secrets by a name in JSON, by a header, by a URL or by a prefix of their
 * own.
 */
export function withoutNamedSecrets(text: string): string {
  return NAMED.reduce((kept, pattern) => kept.replace(pattern, `$1${REDACTED}`), text)
}
