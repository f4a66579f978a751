/** The schema of the logins: OAuth 2.0 (`oauth` of the API and of mail), and a program that prints the key (`api.key_command`). */
import { z } from 'zod'
import { Secret } from './secrets.ts'
import { group, named, path, privateKeyFault, secret, setting, text, tokenUrlFault } from './validators.ts'

const word = text('a text')
const COMMAND = 'a list of a program and its arguments'
export const keyCommand = z.array(word, { error: COMMAND }).min(1, { error: COMMAND })

const GRANTS = ['client_credentials', 'refresh_token', 'jwt_bearer'] as const

const oauthGroupOf = (variables: string) =>
  group({
    token_url: setting('Address that gives access tokens.', text('a URL with https://', tokenUrlFault), {
      examples: ['https://login.example.com/oauth2/token'],
    }),
    grant: setting(
      'How the login is proved: client_credentials, refresh_token or jwt_bearer.',
      z
        .enum(GRANTS, { error: 'client_credentials, refresh_token or jwt_bearer' })
        .default('client_credentials'),
    ),
    client_id: setting('Id of the client.', word.optional()),
    client_secret: setting('Secret of the client.', secret('the secret of the client').optional(), {
      env: `LEADSHEET_${variables}_OAUTH_CLIENT_SECRET`,
    }),
    client_secret_file: setting('File that holds the secret, in place of client_secret.', path.optional()),
    client_auth: setting(
      'Where the id and the secret are sent: in a header (basic) or in the body.',
      z.enum(['basic', 'body'], { error: 'basic or body' }).default('basic'),
    ),
    scope: setting(
      'What the token may be used for; several scopes have spaces between them.',
      word.optional(),
      {
        examples: ['crm.objects.contacts.read'],
      },
    ),
    audience: setting(
      'What the token is for, where the service asks for it; for jwt_bearer aud (default: token_url).',
      word.optional(),
    ),
    refresh_token: setting(
      'The first refresh token. Newer ones are kept in tokens.db in data_dir.',
      secret('a refresh token').optional(),
      { env: `LEADSHEET_${variables}_OAUTH_REFRESH_TOKEN` },
    ),
    refresh_token_file: setting(
      'File that holds the first refresh token, in place of refresh_token.',
      path.optional(),
    ),
    private_key: setting(
      'Private key in PEM (RSA, or EC with P-256), or the JSON file of a Google service account.',
      secret('a private key in PEM, RSA or EC (P-256)', (key) =>
        privateKeyFault(pemOf(key), ['rsa', 'prime256v1']),
      )
        .transform((key) => new Secret(pemOf(key.reveal())))
        .optional(),
    ),
    private_key_file: setting('File that holds the private key, in place of private_key.', path.optional()),
    issuer: setting(
      'Issuer of the text that jwt_bearer signs (iss), such as the client id.',
      word.optional(),
      {
        examples: ['leadsheet'],
      },
    ),
    subject: setting('User that jwt_bearer logs in as (sub).', word.optional(), {
      examples: ['reports@example.com'],
    }),
    params: setting(
      'Further parameters of the request for a token; not secret.',
      z.record(z.string(), z.string({ error: 'a text' }), { error: 'names with texts' }).optional(),
      { examples: [{ resource: 'https://crm.example.com' }] },
    ),
  }).superRefine((oauth, context) => {
    const { needs, refuses } = RULES[oauth.grant]
    for (const name of needs.filter((name) => oauth[name] === undefined))
      context.addIssue({ code: 'custom', path: [name], message: `a value, with the grant ${oauth.grant}` })
    for (const name of refuses.filter((name) => oauth[name] !== undefined))
      context.addIssue({ code: 'custom', path: [name], message: `none, with the grant ${oauth.grant}` })
  })

/** @param variables the middle of the names of the variables: `API` -> `LEADSHEET_API_OAUTH_CLIENT_SECRET` */
export const oauthSchemaOf = (variables: string) => named(oauthGroupOf(variables))

type Name = keyof z.input<ReturnType<typeof oauthGroupOf>>
const OF_SIGNATURE = ['private_key', 'issuer', 'subject'] as const
const RULES: Readonly<
  Record<(typeof GRANTS)[number], Readonly<Record<'needs' | 'refuses', readonly Name[]>>>
> = {
  client_credentials: { needs: ['client_id', 'client_secret'], refuses: ['refresh_token', ...OF_SIGNATURE] },
  refresh_token: { needs: ['client_id', 'refresh_token'], refuses: OF_SIGNATURE },
  jwt_bearer: { needs: ['private_key', 'issuer'], refuses: ['refresh_token'] },
}

/** Refuses a second way to the key. */
export function refuseTwoKeys(
  { key, keyCommand, oauth }: Readonly<Record<'key' | 'keyCommand' | 'oauth', unknown>>,
  context: z.RefinementCtx,
): void {
  const given = Object.entries({ key, key_command: keyCommand, oauth }).filter(([, value]) => value !== null)
  for (const [name] of given.slice(1))
    context.addIssue({
      code: 'custom',
      path: [name],
      message: `none, because api.${given[0]?.[0]} is set too`,
    })
}

/** Google gives the key of a service account inside a JSON file. */
function pemOf(value: string): string {
  if (!value.startsWith('{')) return value
  try {
    return String(JSON.parse(value).private_key)
  } catch {
    return value
  }
}
