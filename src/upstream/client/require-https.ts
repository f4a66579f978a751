/** Where an API key may go without TLS: to this machine and to networks of one's own, never over the internet. */
import { BlockList, isIP } from 'node:net'
import { LeadsheetError } from '../../errors.ts'

/** Loopback, private and link-local ranges: RFC 1122, 1918, 3927, 4193, 4291. */
const OWN_NETWORKS = [
  ['127.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['::1', 128, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
] as const

/** Names that no public DNS answers: RFC 6761, 6762, 8375, and those of container networks. */
const OWN_NAMES = /^([^.]+|.*\.(localhost|local|internal|home\.arpa|test))$/

const own = new BlockList()
for (const [network, prefix, family] of OWN_NETWORKS) own.addSubnet(network, prefix, family)

/** @throws LeadsheetError config_invalid for http:// to a host that is neither this machine nor on a private network */
export function refuseOpenHttp(url: URL): void {
  if (url.protocol === 'https:') return
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  const isOwn = family === 0 ? OWN_NAMES.test(host) : own.check(host, family === 6 ? 'ipv6' : 'ipv4')
  if (isOwn) return
  throw new LeadsheetError(
    'config_invalid',
    `api.url (LEADSHEET_API_URL) is ${url.protocol}//${url.host}, which would send the API key unencrypted over the internet; https:// was expected`,
    { hint: 'http:// is for this machine and for private networks.' },
  )
}
