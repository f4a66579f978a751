/**
 * Removes secrets from texts: known ones by value, in every form in which a protocol or format may write
 * them, and unknown ones by the name before them.
 */

const REDACTED = '[redacted]'
/** Shorter secrets are not replaced, because ordinary words would match. */
const SHORTEST = 4
/** The minimum length for matches inside base64, where characters repeat by chance. */
const SHORTEST_INSIDE = 6
/** The minimum length of a line of a multi-line secret, such as a PEM key, to be replaced on its own. */
const TELLING_LINE = 16

/** Returns a function that replaces every secret in a text with `[redacted]`. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.filter((secret) => secret.length >= SHORTEST).flatMap(formsOf)
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length)
  return (text) => longestFirst.reduce((kept, form) => kept.replaceAll(form, REDACTED), text)
}

function formsOf(secret: string): string[] {
  const lines = secret
    .split(/\r?\n/)
    .filter((line) => line.length >= TELLING_LINE && !line.startsWith('-----'))
  const written = [...new Set([secret, ...lines])].flatMap((text) => [
    text,
    ...percentEncoded(text),
    htmlEncoded(text),
    ...base64Encoded(text),
  ])
  // A log line is JSON and may quote JSON.
  const quoted = written.map(inJson)
  return [...written, ...quoted, ...quoted.map(inJson)]
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Encodes as in queries, forms and the user part of URLs; some programs write the digits in lower case. */
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

/** Escapes like Handlebars. */
function htmlEncoded(text: string): string {
  return text.replace(/[&<>"'`=]/g, (sign) => HTML[sign] ?? sign)
}

/**
 * Encodes the secret alone and inside a longer text: SMTP and HTTP logins encode the user together with the
 * password.
 */
function base64Encoded(text: string): string[] {
  const bytes = Buffer.from(text)
  const inside = text.length < SHORTEST_INSIDE ? [] : [0, 1, 2].map((before) => base64Inside(text, before))
  return [
    ...[bytes.toString('base64'), bytes.toString('base64url'), ...inside],
    ...inside.map((messages) => messages.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}

/**
 * Returns the base64 characters that depend only on the text, if this many bytes (modulo 3) come before it.
 */
function base64Inside(text: string, bytesBefore: number): string {
  const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(text)])
  return bytes.toString('base64').slice(Math.ceil((bytesBefore * 8) / 6), Math.floor((bytes.length * 8) / 6))
}

const NAMES =
  '(?:proxy-)?authorization|(?:set-)?cookie|(?:x-)?api[_-]?key|(?:\\w+_)?(?:pass|password|secret|token)'

/** The patterns of named secrets; each keeps the name and replaces the value. */
const NAMED: readonly RegExp[] = [
  new RegExp(`("(?:${NAMES})"\\s*:\\s*")(?:[^"\\\\]|\\\\.)+`, 'gi'),
  // Matches JSON inside JSON.
  new RegExp(`(\\\\"(?:${NAMES})\\\\"\\s*:\\s*\\\\")(?:[^"\\\\]|\\\\\\\\.)+`, 'gi'),
  /\b((?:bearer|basic) +)[\w.~+/=-]{16,}/gi,
  /\b((?:x-api-key|authorization): *)(?!(?:bearer|basic)\b)[^\s"\\`]+/gi,
  /\b((?:set-)?cookie: *)[^\n"\\]+/gi,
  /([?&](?:api[_-]?key|key|access_token|token|secret|password|pass)=)[^&\s"'\\<>]+/gi,
  /(\/\/[^\s/:@"]*:)[^\s/@"]+(?=@)/g,
  /\b(whsec_)[\w+/=-]+/g,
]

/** Removes what is marked as a secret in JSON, in a header, in a URL or by its own prefix. */
export function withoutNamedSecrets(text: string): string {
  return NAMED.reduce((kept, pattern) => kept.replace(pattern, `$1${REDACTED}`), text)
}
