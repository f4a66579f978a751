/** The ways of sending that a mail URL can name, besides `file:`. */

interface MailWay {
  /** The host if the URL names none; null if it has to name one. */
  readonly host: string | null
  /**
   * The proof of the login: `any` (a password, OAuth or nothing), `oauth`, or `password` (the key of an API,
   * which stands in the URL as the password).
   */
  readonly login: 'any' | 'oauth' | 'password'
}

const WAYS = {
  'smtp:': { host: null, login: 'any' },
  'smtps:': { host: null, login: 'any' },
  'graph:': { host: 'graph.microsoft.com', login: 'oauth' },
  'gmail:': { host: 'gmail.googleapis.com', login: 'oauth' },
  'ses:': { host: null, login: 'password' },
  'resend:': { host: 'api.resend.com', login: 'password' },
} as const satisfies Readonly<Record<string, MailWay>>

export type MailScheme = keyof typeof WAYS

/** Null for `file:` and an unknown protocol. */
export function mailWayOf({ protocol }: Pick<URL, 'protocol'>): MailWay | null {
  return protocol in WAYS ? WAYS[protocol as MailScheme] : null
}

/** Tells whether messages go over the API of a provider, and not over SMTP. */
export function isMailApi({ protocol }: Pick<URL, 'protocol'>): boolean {
  return protocol in WAYS && !protocol.startsWith('smtp')
}

/** The API of a provider, as a URL names it. */
export interface MailApi {
  /** The name without the login, such as `graph://graph.microsoft.com`. */
  readonly name: string
  /** The address of the API, such as `https://graph.microsoft.com`. */
  readonly origin: string
  /** The mailbox that sends, or the id of the key; empty if the URL has none. */
  readonly user: string
  readonly password: string
  /** The region of Amazon; empty if neither the host nor `?region=` names one. */
  readonly region: string
}

const THIS_MACHINE = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/
/** The hosts of Amazon SES: regional, FIPS, dual-stack, China, and in a private network (VPC). */
const SES_HOST =
  /(?:^|\.)email(?:-fips)?\.([a-z\d-]+)\.(?:(?:vpce\.)?amazonaws\.com(?:\.cn)?|api\.(?:aws|amazonwebservices\.com\.cn))$/

/** @param url a URL with the protocol of an API */
export function mailApiOf(url: URL): MailApi {
  const host = url.host || (mailWayOf(url)?.host ?? '')
  return {
    name: `${url.protocol}//${host}`,
    origin: `${THIS_MACHINE.test(url.hostname) ? 'http' : 'https'}://${host}`,
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    region: url.searchParams.get('region') ?? SES_HOST.exec(url.hostname)?.[1] ?? '',
  }
}

/** Returns what a URL of an API lacks or has too much, null if it is valid. */
export function mailApiFault(url: URL): string | null {
  if (!isMailApi(url)) return null
  if (url.pathname !== '' && url.pathname !== '/')
    return 'nothing may stand behind the host; a mailbox stands before it, as in graph://reports%40example.com@graph.microsoft.com'
  if (url.protocol !== 'ses:') return null
  if (url.username === '') return 'the id of the key before its secret is missing'
  return mailApiOf(url).region === ''
    ? 'the host names no region: write email.REGION.amazonaws.com, or ?region= behind the host'
    : null
}
