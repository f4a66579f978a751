/** The ways of sending that a mail URL can name, besides `file:`. */

interface MailWay {
  /** The host if the URL names none; null if it has to name one. */
  readonly host: string | null
  /**
   * What proves the login: `any` (a password, OAuth or nothing), `oauth`, or `password` (the key of an API,
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
