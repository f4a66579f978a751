/**
 * Limits the open connections to the pages, of each address and of all. A new connection is always taken, and an old
 * one is closed for it: so nobody keeps out the probe of a container, even from the address from which it comes.
 */
import type { IncomingMessage, Server } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'

const OF_ALL = 256
const OF_ADDRESS = 16

/** Proxies may have more, because they ask for many people. A network is an address or an IPv6 /64. */
export function limitConnections(
  server: Server,
  trustedProxies: readonly string[],
  networkOf: (address: string) => string,
): void {
  const proxies = blockList(trustedProxies)
  /** The network of each open connection, in the order in which they were opened. */
  const open = new Map<Socket, string>()
  const requests = new WeakMap<Socket, IncomingMessage>()
  /** Closes the oldest connection that waits for its client, or else the oldest. */
  const closeOne = (sockets: readonly Socket[]): void => {
    const one = sockets.find((socket) => requests.get(socket)?.complete !== true) ?? sockets[0]
    if (one === undefined) return
    open.delete(one)
    one.destroy()
  }
  server.on('request', (request, response) => {
    requests.set(request.socket, request)
    response.once('close', () => requests.delete(request.socket))
  })
  server.on('connection', (socket: Socket) => {
    // Node keeps an address that was read once. The limits of requests need it even after the client has hung up.
    const { remoteAddress: address } = socket
    if (address === undefined) return void socket.destroy()
    const network = networkOf(address)
    const sockets = [...open.keys()]
    const beside = sockets.filter((each) => open.get(each) === network)
    const isProxy = proxies.check(address, kindOf(address))
    if (beside.length >= OF_ADDRESS && !isProxy) closeOne(beside)
    else if (sockets.length >= OF_ALL) closeOne(sockets)
    open.set(socket, network)
    socket.once('close', () => open.delete(socket))
  })
}

/** The networks of the names that Fastify knows too. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

function blockList(addresses: readonly string[]): BlockList {
  const list = new BlockList()
  for (const each of addresses.flatMap((address) => NAMED[address] ?? [address])) {
    const [address = '', bits] = each.split('/')
    if (bits === undefined) list.addAddress(address, kindOf(address))
    else list.addSubnet(address, Number(bits), kindOf(address))
  }
  return list
}

function kindOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
