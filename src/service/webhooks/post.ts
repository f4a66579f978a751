/**
 * Makes one attempt to send a message to a webhook. It sends to public addresses only, so that nobody reaches
 * a private network through the service. An attempt never throws, follows no redirect, and has a time limit.
 */
import { randomBytes } from 'node:crypto'
import dns from 'node:dns'
import type { IncomingHttpHeaders } from 'node:http'
import type { LookupFunction } from 'node:net'
import { BlockList, isIP } from 'node:net'
import { Agent } from 'undici'
import type { WireEvent, WirePing } from '../../contract/webhook.ts'
import { EVENT_VERSION, PING_TYPE } from '../../contract/webhook.ts'
import { AddressRefused, CONNECT_MS, post, TOTAL_MS } from '../../http-post.ts'
import { retryAfterMs } from '../../retry.ts'
import type { EventRow, WebhookMessageRow } from '../store/database.ts'
import { instantOf } from '../store/database.ts'

/** The statuses of answers whose header Retry-After is obeyed. */
const BUSY_STATUSES = [429, 503]

export interface PostOutcome {
  readonly status: number | null
  /** The reason why the message was not delivered; null if it was delivered. */
  readonly error: string | null
  /** The milliseconds for which the receiver asks for no messages; null if it does not ask. */
  readonly retryAfterMs: number | null
  readonly durationMs: number
}

export type WebhookPoster = ReturnType<typeof createWebhookPoster>

/** @param totalMs the time limit of an attempt; tests set a shorter limit */
export function createWebhookPoster(guard: AddressGuard, now: () => number, totalMs: number = TOTAL_MS) {
  const agent = new Agent({
    // `rejectUnauthorized` is set, because an environment variable could otherwise turn off the check of TLS
    // certificates.
    connect: { timeout: CONNECT_MS, rejectUnauthorized: true, lookup: guard.lookup },
  })

  return {
    async post(text: string, headers: Readonly<Record<string, string>>, body: string): Promise<PostOutcome> {
      const url = new URL(text)
      const began = performance.now()
      // An IP address in the URL is checked here, because it is never resolved and so skips `lookup`.
      const refusal = guard.refusalOf(url)
      if (refusal !== null)
        return {
          status: null,
          error: `the address is refused: ${refusal}`,
          retryAfterMs: null,
          durationMs: 0,
        }
      const sent = { ...headers, 'content-type': 'application/json', 'user-agent': 'leadsheet-service' }
      const { status, headers: answered, error } = await post(agent, { url, headers: sent, body, totalMs })
      const isBusy = status !== null && BUSY_STATUSES.includes(status)
      return {
        status,
        error,
        retryAfterMs: isBusy ? askedToWait(answered, new Date(now())) : null,
        durationMs: Math.round(performance.now() - began),
      }
    },
    /** Aborts the attempts under way. They count as failed. */
    close: () => agent.destroy(),
  }
}

/** Null without Retry-After. A date is counted from the Date header of the answer, or else from now. */
function askedToWait(headers: IncomingHttpHeaders, now: Date): number | null {
  const asked = headers['retry-after']
  const date = Date.parse(headers.date ?? '')
  return typeof asked === 'string' ? retryAfterMs(asked, Number.isNaN(date) ? now : new Date(date)) : null
}

/** Made once for each webhook, so that every attempt sends the same id and bytes. */
type Message = Pick<WebhookMessageRow, 'id' | 'type' | 'body'>

export function eventMessage({ id, type, at, data }: EventRow): Message {
  return messageOf(`evt_${id}`, type, at, JSON.parse(data))
}

/** @param at the simulated time in milliseconds since 1970, as for events */
export function pingMessage(webhookId: string, at: number): Message {
  const data: WirePing['data'] = { webhook_id: webhookId }
  return messageOf(`ping_${randomBytes(8).toString('hex')}`, PING_TYPE, at, data)
}

function messageOf(id: string, type: (WireEvent | WirePing)['type'], at: number, data: unknown): Message {
  const body = { id, type, version: EVENT_VERSION, timestamp: instantOf(at), data }
  return { id: `msg_${randomBytes(12).toString('hex')}`, type, body: JSON.stringify(body) }
}

const PORT_PRIVILEGED_MAX = 1023
const PORTS = ['', '80', '443']

/** The IPv4 networks that are not public (RFC 6890), or that forward to addresses of other networks. */
const CLOSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // The address of Azure's internal services. The addresses of other clouds are in the networks above.
  '168.63.129.16/32',
]
/** The only part of IPv6 that has public addresses. */
const PUBLIC_IPV6 = blockListOf([], ['2000::/3'])
/** Reserved, or their addresses contain an IPv4 address that this guard would not check. */
const CLOSED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
const CLOSED = blockListOf(CLOSED_IPV4, CLOSED_IPV6)
const LOOPBACK = blockListOf(['127.0.0.0/8'], ['::1/128'])

type AddressGuard = ReturnType<typeof createAddressGuard>

interface AddressGuardOptions {
  /** True if messages may be sent to this machine, for trials. Private networks stay forbidden. */
  readonly toLoopback: boolean
  /** Resolves names; the system's resolver by default. */
  readonly resolve?: LookupFunction | undefined
}

/** Checks addresses at each connection, because a host name may have got other addresses. */
export function createAddressGuard({ toLoopback, resolve = dns.lookup }: AddressGuardOptions) {
  const isOpen = (address: string, mustBeLocal: boolean): boolean => {
    const isLocal = isIn(LOOPBACK, address)
    return isLocal ? toLoopback : !mustBeLocal && isPublic(address)
  }

  /** Returns a reason as a clause, or null. A host name is not resolved. */
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

  /** Resolves host names for connections. Fails with AddressRefused if an address is not allowed. */
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
  }
}

/** `new URL` has already converted `0x7f.1`, `2130706433` and `①②⑦.0.0.1` to an IPv4 address. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** Returns whether a host name always means this machine (RFC 6761). */
function isLocalName(host: string): boolean {
  return /(^|\.)localhost\.?$/i.test(host)
}

/** @param address an IPv4 or IPv6 address; for a name the result is false */
function isPublic(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && (family === 4 || isIn(PUBLIC_IPV6, address)) && !isIn(CLOSED, address)
}

/** @param address an IPv4 or IPv6 address; for a name the result is false */
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
