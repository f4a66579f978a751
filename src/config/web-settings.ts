/** Where the pages of operators and recipients are, and who may see them, as a schema. */
import { LOOPBACK } from './rules.ts'
import { path, section, text } from './value-kinds.ts'

/** In the place of an address, where no pages are wanted. */
const NONE = 'none'
const TOKEN_LENGTH = 16

export const webSchema = section({
  listen: text('an address and a port, such as 127.0.0.1:8080, or none', listenFault)
    .default('127.0.0.1:8080')
    .meta({
      description: 'Where the daemon serves its pages, or none; what has TLS stands before it.',
    }),
  public_url: text('an https:// address without a path', publicUrlFault)
    .optional()
    .meta({
      description:
        'Under which address recipients reach the pages on which they pause or end what they get; if absent, they are asked to write a mail.',
      examples: ['https://reports.example.com'],
    }),
  token: text(`a text of at least ${TOKEN_LENGTH} characters`, tokenFault).optional().meta({
    description:
      'What operators sign in with; without it the window is served on this machine alone, and nothing can be done there. Better kept out of this file: see token_file.',
  }),
  token_file: path.optional().meta({ description: 'File that holds the token, in place of token.' }),
})

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** `127.0.0.1:8080`, `[::]:8080`, `0.0.0.0:8080`, or `none`, which gives null; a checked text. */
export function listenAddress(listen: string): ListenAddress | null {
  if (listen === NONE) return null
  const { hostname, port } = new URL(`tcp://${listen}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}

function listenFault(value: string): string | null {
  if (value === NONE) return null
  if (!/^(\[[\da-f:.]+\]|[a-z\d.-]+):\d+$/i.test(value)) return 'it is written otherwise'
  return URL.canParse(`tcp://${value}`) ? null : 'there is no such address'
}

function publicUrlFault(value: string): string | null {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'it must begin with https://'
  if (url.username || url.password) return 'it must not hold a user or password'
  if (url.pathname !== '/' || url.search || url.hash) return 'nothing may come after the host'
  // Who can read along could stop or change what others get.
  return url.protocol === 'https:' || LOOPBACK.test(url.hostname) ? null : 'http:// is only for this machine'
}

function tokenFault(value: string): string | null {
  if (/\s/.test(value)) return 'there must be no space in it'
  return value.length >= TOKEN_LENGTH ? null : 'it is shorter'
}
