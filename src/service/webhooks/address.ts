/**
 * Where webhooks may be sent: to the public network, so that nobody reaches through the service what only the service
 * can reach. An address is asked twice, since its name may lead elsewhere later: when it is registered, and whenever
 * a connection is opened, by the addresses that the name leads to at that moment.
 */
import dns from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** How long a registration waits for the answer to a name; one that does not come then is asked for when sending. */
const LOOKUP_MS = 2_000
const PORT_PRIVILEGED_MAX = 1023
const PORTS = ['', '80', '443']

/** Of the registries of special-purpose addresses (RFC 6890), and networks that lead on to any other. */
const CLOSED_IPV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // Where machines of Azure reach its own services; those of other clouds are in the networks above.
  '168.63.129.16/32',
]
/** Of IPv6 nothing else is public. */
const PUBLIC_IPV6 = blockListOf([], ['2000::/3'])
/** Within it: reserved, or with an IPv4 address in it, which nobody would be asked about. */
const CLOSED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
const CLOSED = blockListOf(CLOSED_IPV4, CLOSED_IPV6)
const LOOPBACK = blockListOf(['127.0.0.0/8'], ['::1/128'])

export interface AddressGuard {
  /** Why nothing is sent there, as a clause, as far as the URL itself tells; null where it may be. */
  refusalOf(url: URL): string | null
  /** The same, and asked what its name leads to now. A name that leads nowhere now may do so later. */
  check(url: string): Promise<string | null>
  /** Resolves names for connections, and fails with AddressRefused where any address of an answer is closed. */
  readonly lookup: LookupFunction
}

/** A name has led to an address that nothing is sent to. Which one is not told: it is nobody's business. */
export class AddressRefused extends Error {
  constructor() {
    super('its name leads to an address of this machine or of a private or reserved network')
    this.name = 'AddressRefused'
  }
}

export interface AddressGuardOptions {
  /** Whether this machine may be reached, which is for trying things out. No other network is opened by it. */
  readonly toLoopback: boolean
  /** The system's resolver unless told otherwise. */
  readonly resolve?: LookupFunction | undefined
}

export function createAddressGuard({ toLoopback, resolve = dns.lookup }: AddressGuardOptions): AddressGuard {
  const isOpen = (address: string, mustBeLocal: boolean): boolean => {
    const isLocal = isIn(LOOPBACK, address)
    return isLocal ? toLoopback : !mustBeLocal && isPublic(address)
  }

  const refusalOf = (url: URL): string | null => {
    const host = hostOf(url)
    const isLocal = isLocalName(host) || isIn(LOOPBACK, host)
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'it is neither https nor http'
    if (url.protocol === 'http:' && !(toLoopback && isLocal)) return 'it is not https'
    if (url.username !== '' || url.password !== '') return 'it has a user or a password in it'
    if (url.href.includes('#')) return 'it has a fragment (#), which is never sent'
    if (!PORTS.includes(url.port) && Number(url.port) <= PORT_PRIVILEGED_MAX) {
      return `its port is ${url.port}; 80, 443 and those from 1024 on are taken`
    }
    if (isIP(host) === 0 ? isLocalName(host) && !toLoopback : !isOpen(host, false)) {
      return 'it is an address of this machine or of a private or reserved network'
    }
    return null
  }

  const lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, [])
      // As the type of a lookup has it, whatever was asked for.
      const addresses = typeof found === 'string' ? [{ address: found, family: isIP(found) }] : found
      const [first] = addresses
      const mustBeLocal = isLocalName(hostname)
      if (first === undefined || !addresses.every(({ address }) => isOpen(address, mustBeLocal))) {
        return callback(new AddressRefused(), [])
      }
      if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }

  return {
    refusalOf,
    lookup,
    check: async (text) => {
      const url = new URL(text)
      const refusal = refusalOf(url)
      if (refusal !== null || isIP(hostOf(url)) !== 0) return refusal
      return await new Promise((settle) => {
        const timer = setTimeout(() => settle(null), LOOKUP_MS)
        lookup(hostOf(url), { all: true }, (error) => {
          clearTimeout(timer)
          settle(error instanceof AddressRefused ? error.message : null)
        })
      })
    },
  }
}

/** `new URL` has made one form of all that a number can be written as: `0x7f.1`, `2130706433`, `①②⑦.0.0.1`. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** Names that every machine keeps for itself (RFC 6761). */
function isLocalName(host: string): boolean {
  return /(^|\.)localhost\.?$/i.test(host)
}

/** @param address of either family; a name is none */
function isPublic(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && (family === 4 || isIn(PUBLIC_IPV6, address)) && !isIn(CLOSED, address)
}

/** @param address of either family; a name is in no list */
function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

function blockListOf(ipv4: readonly string[], ipv6: readonly string[]): BlockList {
  const list = new BlockList()
  const add = (network: string, family: 'ipv4' | 'ipv6'): void => {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  for (const network of ipv4) add(network, 'ipv4')
  for (const network of ipv6) add(network, 'ipv6')
  return list
}
