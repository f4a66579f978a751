/**
 * Decides to which addresses webhooks may be sent. Only public addresses are allowed, so that nobody uses the
 * service to reach private ones. An address is checked when a webhook is registered. Its IP addresses are
 * checked again whenever a connection opens, because its name may then resolve to other IP addresses.
 */
import dns from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/**
 * How long a registration waits for a name to resolve. A name that resolves more slowly is checked when a
 * message is sent.
 */
const LOOKUP_MS = 2_000
const PORT_PRIVILEGED_MAX = 1023
const PORTS = ['', '80', '443']

/** Special-purpose IPv4 addresses (RFC 6890), and networks through which any other address can be reached. */
const CLOSED_IPV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // The address of Azure's internal services. The addresses of other clouds are in the networks above.
  '168.63.129.16/32',
]
/** The only public part of IPv6. */
const PUBLIC_IPV6 = blockListOf([], ['2000::/3'])
/**
 * The networks within the public part that are not allowed: reserved networks, and networks whose addresses
 * contain an IPv4 address, because that address would not be checked.
 */
const CLOSED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
const CLOSED = blockListOf(CLOSED_IPV4, CLOSED_IPV6)
const LOOPBACK = blockListOf(['127.0.0.0/8'], ['::1/128'])

export interface AddressGuard {
  /**
   * Returns the reason why nothing is sent to the URL, as a clause; null if messages may be sent. Only the
   * URL itself is judged.
   */
  refusalOf(url: URL): string | null
  /**
   * Checks the URL like `refusalOf`, and also the addresses to which its name resolves now. A name without an
   * address passes, because it may get one later.
   */
  check(url: string): Promise<string | null>
  /** Resolves names for connections. Fails with AddressRefused if any resolved address is not allowed. */
  readonly lookup: LookupFunction
}

/**
 * Thrown if a name resolves to an address that is not allowed. The message does not contain the address,
 * because it is private.
 */
export class AddressRefused extends Error {
  constructor() {
    super('its name leads to an address of this machine or of a private or reserved network')
    this.name = 'AddressRefused'
  }
}

interface AddressGuardOptions {
  /** Tells whether messages may be sent to this machine, for trials. No other network is allowed by this. */
  readonly toLoopback: boolean
  /** Resolves names; the system's resolver by default. */
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
      // A resolver may return a single address even if all addresses were asked for.
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
 * Returns the host of a URL. `new URL` has already converted numbers such as `0x7f.1`, `2130706433` and
 * `①②⑦.0.0.1` to an IPv4 address.
 */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** Returns whether a name always means this machine (RFC 6761). */
function isLocalName(host: string): boolean {
  return /(^|\.)localhost\.?$/i.test(host)
}

/**
 * Returns whether an address is public.
 * @param address an IPv4 or IPv6 address; for a name the result is false
 */
function isPublic(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && (family === 4 || isIn(PUBLIC_IPV6, address)) && !isIn(CLOSED, address)
}

/**
 * Returns whether a list of networks contains an address.
 * @param address an IPv4 or IPv6 address; for a name the result is false
 */
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
