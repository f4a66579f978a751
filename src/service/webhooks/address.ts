/**
 * Decides where webhooks may be sent: only to the public network, so that nobody uses the service to reach
 * private addresses. An address is checked at its registration, and again by the resolved IP addresses
 * whenever a connection opens, because its name may lead elsewhere later.
 */
import dns from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/**
 * The time that a registration waits for the name to resolve. A slower name is checked when a message is
 * sent.
 */
const LOOKUP_MS = 2_000
const PORT_PRIVILEGED_MAX = 1023
const PORTS = ['', '80', '443']

/** Special-purpose addresses (RFC 6890), and networks that lead on to any other. */
const CLOSED_IPV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // The address of Azure's internal services. Those of other clouds are in the networks above.
  '168.63.129.16/32',
]
/** The only public part of IPv6. */
const PUBLIC_IPV6 = blockListOf([], ['2000::/3'])
/** The reserved networks within it, and those that contain an IPv4 address, which would not be checked. */
const CLOSED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
const CLOSED = blockListOf(CLOSED_IPV4, CLOSED_IPV6)
const LOOPBACK = blockListOf(['127.0.0.0/8'], ['::1/128'])

export interface AddressGuard {
  /**
   * Returns why nothing is sent to the URL, as a clause, judged by the URL alone; null where it may be sent.
   */
  refusalOf(url: URL): string | null
  /**
   * The same check, and also of the addresses that the name has now. A name without an address passes,
   * because it may get one later.
   */
  check(url: string): Promise<string | null>
  /** Resolves names for connections. Fails with AddressRefused where any resolved address is closed. */
  readonly lookup: LookupFunction
}

/** A name has resolved to a closed address. The message does not tell the address, which is private. */
export class AddressRefused extends Error {
  constructor() {
    super('its name leads to an address of this machine or of a private or reserved network')
    this.name = 'AddressRefused'
  }
}

interface AddressGuardOptions {
  /** Whether this machine may be reached, for trials. It opens no other network. */
  readonly toLoopback: boolean
  /** The resolver; the system's by default. */
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
      // A resolver may return a single address by its type, whatever was asked for.
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

/**
 * The host of a URL. `new URL` has already normalised numbers such as `0x7f.1`, `2130706433`, `①②⑦.0.0.1`.
 */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** Whether a name always means the machine itself (RFC 6761). */
function isLocalName(host: string): boolean {
  return /(^|\.)localhost\.?$/i.test(host)
}

/** @param address an address of either family; a name is never public */
function isPublic(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && (family === 4 || isIn(PUBLIC_IPV6, address)) && !isIn(CLOSED, address)
}

/** @param address an address of either family; a name is in no list */
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
