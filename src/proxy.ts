/**
 * Sends HTTP requests through the proxies of the environment (HTTPS_PROXY, HTTP_PROXY and NO_PROXY). Requests
 * to this machine never go through a proxy.
 */
import { BlockList, isIP } from 'node:net'
import type { Agent, Dispatcher } from 'undici'
import { loadPackage } from './packages.ts'

export interface ProxySettings {
  /** The URLs of the proxies for `http://` and for `https://`, each with its login; null without a proxy. */
  readonly http: string | null
  readonly https: string | null
  /** The hosts: `example.com` with its subdomains, `.example.com`, `h:8080`, `10.0.0.0/8` or `*`. */
  readonly except: readonly string[]
}

/** Returns the proxy for a URL; null if the URL is reached without one. */
export function proxyFor(
  url: Pick<URL, 'hostname' | 'port' | 'protocol'>,
  settings: ProxySettings,
): URL | null {
  const proxy = url.protocol === 'https:' ? settings.https : settings.http
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase()
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  if (proxy === null || LOOPBACK.some((entry) => isExcept(host, port, entry))) return null
  return settings.except.some((entry) => isExcept(host, port, entry.toLowerCase())) ? null : new URL(proxy)
}

const LOOPBACK = ['localhost', '127.0.0.0/8', '::1']

function isExcept(host: string, port: string, entry: string): boolean {
  if (entry === '*') return true
  const [, address = '', prefix] = /^\[?([^\]/]*)\]?\/(\d+)$/.exec(entry) ?? []
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (isIP(address) !== 0 && Number(prefix) <= (family === 'ipv6' ? 128 : 32)) {
    const network = new BlockList()
    network.addSubnet(address, Number(prefix), family)
    return isIP(host) !== 0 && network.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4')
  }
  const [, name = entry, ofPort = port] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? []
  const bare = name.replace(/^\[|\]$|\.$/g, '').replace(/^\*?\./, '')
  const isApex = !name.startsWith('*') && host === bare
  return ofPort === port && bare !== '' && (isApex || host.endsWith(`.${bare}`))
}

/** @param options the options of connections, which hold for those through a proxy too */
export function openDispatcher(
  settings: ProxySettings | undefined,
  options: Agent.Options,
): Pick<Dispatcher, 'request' | 'close' | 'destroy'> {
  const { Agent, ProxyAgent } = loadPackage('undici')
  const opened = new Map<string, Dispatcher>()
  const tls = typeof options.connect === 'object' ? options.connect : {}
  const open = (proxy: URL | null): Dispatcher =>
    proxy === null
      ? new Agent(options)
      : new ProxyAgent({ ...options, uri: proxy.href, requestTls: tls, proxyTls: tls })
  const dispatcherFor = (origin: string | URL | undefined): Dispatcher => {
    const proxy = settings === undefined ? null : proxyFor(new URL(origin ?? ''), settings)
    const key = proxy?.href ?? ''
    const found = opened.get(key) ?? open(proxy)
    opened.set(key, found)
    return found
  }
  return {
    request: ((asked: Dispatcher.RequestOptions) =>
      dispatcherFor(asked.origin).request(asked)) as Dispatcher['request'],
    close: (async () =>
      void (await Promise.all([...opened.values()].map((each) => each.close())))) as Dispatcher['close'],
    destroy: (async () =>
      void (await Promise.all([...opened.values()].map((each) => each.destroy())))) as Dispatcher['destroy'],
  }
}
