/**
 * Removes secrets from texts. A known secret is found by its value, in every encoding that a protocol or a
 * format may use. An unknown secret is found by the name before it, such as `token=`.
 */

const REDACTED = '[redacted]'
/** The minimum length of a secret that is replaced. A shorter secret could equal an ordinary word. */
const SHORTEST = 4
/**
 * The minimum length of a secret that is searched inside base64, where short sequences of characters occur by
 * chance.
 */
const SHORTEST_INSIDE = 6
/**
 * If a secret has several lines, as a PEM key has, each line is replaced too. This is the minimum length of
 * such a line.
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
  // A log line is JSON, and a text in it may be JSON again, so each form is also escaped once and twice.
  const quoted = written.map(inJson)
  return [...written, ...quoted, ...quoted.map(inJson)]
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/**
 * Returns the encodings of a text in a URL query, in a form and in the password of a URL. Each is returned a
 * second time with hexadecimal digits in lower case, which some programs use.
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
 * Returns the base64 encodings of a secret, both alone and inside a longer text. The latter occur because
 * SMTP and HTTP logins encode the user together with the password.
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

/**
 * Removes values that are marked as secrets by a name in JSON, by a header, by a URL or by a prefix of their
 * own.
 */
export function withoutNamedSecrets(text: string): string {
  return NAMED.reduce((kept, pattern) => kept.replace(pattern, `$1${REDACTED}`), text)
}
