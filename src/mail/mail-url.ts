/** The ways of sending that a mail URL can name, besides `file:`. */

/**
 * `host` stands for that of a URL that names none; null if it has to name one. `login` is its proof: `any` (a
 * password, OAuth or nothing), `oauth`, or `password` (the key of an API, which stands in the URL as the password).
 */
const WAYS = {
  'smtp:': { host: null, login: 'any' },
  'smtps:': { host: null, login: 'any' },
  'graph:': { host: 'graph.microsoft.com', login: 'oauth' },
  'gmail:': { host: 'gmail.googleapis.com', login: 'oauth' },
  'ses:': { host: null, login: 'password' },
  'resend:': { host: 'api.resend.com', login: 'password' },
} as const

export type MailScheme = keyof typeof WAYS

/** Null for `file:` and an unknown protocol. */
export function mailWayOf({ protocol }: Pick<URL, 'protocol'>) {
  return protocol in WAYS ? WAYS[protocol as MailScheme] : null
}

/** Tells whether messages go over the API of a provider, and not over SMTP. */
export function isMailApi({ protocol }: Pick<URL, 'protocol'>): boolean {
  return protocol in WAYS && !protocol.startsWith('smtp')
}

/** Matches the host of a URL. */
const THIS_MACHINE = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/**
 * Returns what the URL of a mail server says.
 * @param url a URL with a host, and a protocol that ends with `s` if the connection begins with TLS
 * @param ports the ports where the URL names none, with TLS from the start and without
 */
export function mailServerOf(url: URL, [tlsPort, plainPort]: readonly [number, number]) {
  const secure = url.protocol.endsWith('s:')
  const port = Number(url.port) || (secure ? tlsPort : plainPort)
  const isHere = THIS_MACHINE.test(url.hostname)
  return {
    /** The name of the server without the login, such as `smtp://mail.example.com:587`. */
    name: `${url.protocol}//${url.hostname}:${port}`,
    /** Empty if the server needs no login. */
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    isHere,
    connection: {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port,
      secure,
      // Set explicitly, because an environment variable could otherwise turn off the check of the
      // certificate. The check is off only for STARTTLS with a mail server on this machine, because the
      // certificate of such a server is rarely made out to `localhost`.
      tls: { minVersion: 'TLSv1.2', rejectUnauthorized: !isHere || secure },
    },
  } as const
}

/** The hosts of Amazon SES: regional, FIPS, dual-stack, China, and in a private network (VPC). */
const SES_HOST =
  /(?:^|\.)email(?:-fips)?\.([a-z\d-]+)\.(?:(?:vpce\.)?amazonaws\.com(?:\.cn)?|api\.(?:aws|amazonwebservices\.com\.cn))$/

export type MailApi = Readonly<ReturnType<typeof mailApiOf>>

/**
 * Returns the API of a provider, as a URL names it.
 * @param url a URL with the protocol of an API
 */
export function mailApiOf(url: URL) {
  const host = url.host || (mailWayOf(url)?.host ?? '')
  return {
    /** The name without the login, such as `graph://graph.microsoft.com`. */
    name: `${url.protocol}//${host}`,
    /** The address of the API, such as `https://graph.microsoft.com`. */
    origin: `${THIS_MACHINE.test(url.hostname) ? 'http' : 'https'}://${host}`,
    /** The mailbox that sends, or the id of the key; empty if the URL has none. */
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    /** The region of Amazon; empty if neither the host nor `?region=` names one. */
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
