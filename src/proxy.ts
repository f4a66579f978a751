/**
 * Sends HTTP requests through the proxies of the environment (HTTPS_PROXY, HTTP_PROXY and NO_PROXY). Requests
 * to this machine never go through a proxy.
 */
import type { Agent, Dispatcher } from 'undici'
import { loadPackage } from './packages.ts'

export interface ProxySettings {
  /** The URLs of the proxies for `http://` and for `https://`, each with its login; null without a proxy. */
  readonly http: string | null
  readonly https: string | null
  /** The hosts, such as `example.com` with its subdomains, `h:8080` or `*`. */
  readonly except: readonly string[]
}

const THIS_MACHINE = ['localhost', '127.0.0.1', '::1']

/** @param options the options of connections, which hold for those through a proxy too */
export function openDispatcher(settings: ProxySettings | undefined, options: Agent.Options): Dispatcher {
  const { Agent, EnvHttpProxyAgent } = loadPackage('undici')
  const { http = null, https = null, except = [] } = settings ?? {}
  if (http === null && https === null) return new Agent(options)
  const tls = typeof options.connect === 'object' ? options.connect : {}
  return new EnvHttpProxyAgent({
    ...options,
    requestTls: tls,
    proxyTls: tls,
    httpProxy: http ?? '',
    httpsProxy: https ?? '',
    noProxy: [...THIS_MACHINE, ...except].join(','),
  })
}
