/** Where the pages are that recipients open, as a schema. */
import { LOOPBACK } from './rules.ts'
import { section, text } from './value-kinds.ts'

export const webSchema = section({
  listen: text('an address and a port, such as 127.0.0.1:8080', listenFault).default('127.0.0.1:8080').meta({
    description: 'Where the daemon serves the pages, where public_url is set; before it stands what has TLS.',
  }),
  public_url: text('an https:// address without a path', publicUrlFault)
    .optional()
    .meta({
      description:
        'Under which address recipients reach the pages on which they pause or end what they get; if absent, they are asked to write a mail.',
      examples: ['https://reports.example.com'],
    }),
})

/** `127.0.0.1:8080`, `[::]:8080` and `0.0.0.0:8080`; a checked text. */
export function listenAddress(listen: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(`tcp://${listen}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}

function listenFault(value: string): string | null {
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
