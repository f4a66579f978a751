/**
 * Loads packages when they are first used, because loading all of them would take longer than most commands.
 * Types are imported in the ordinary way, because that loads nothing. This file also reads the version of the
 * program.
 */
import { readFileSync } from 'node:fs'
import { createRequire, Module } from 'node:module'

interface Packages {
  readonly '@css-inline/css-inline': typeof import('@css-inline/css-inline')
  readonly handlebars: typeof import('handlebars')
  readonly 'intl-messageformat': typeof import('intl-messageformat')
  readonly pg: typeof import('pg')
  readonly 'pg-boss': typeof import('pg-boss')
  /** Only the HTTP client, which loads in half the time of the whole package. */
  readonly undici: Pick<typeof import('undici'), 'Agent' | 'ProxyAgent'>
  readonly yaml: typeof import('yaml')
}

const require = createRequire(import.meta.url)

/** Packages that every start needs are imported in the ordinary way instead. */
export function loadPackage<Name extends keyof Packages>(name: Name): Packages[Name] {
  return (name === 'undici' ? loadHttpClient() : require(name)) as Packages[Name]
}

export function readVersion(): string {
  const file = new URL('../package.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).version
}

/** Loads only the HTTP client of undici, and adds methods such as `request` to it as undici itself does. */
function loadHttpClient(): Packages['undici'] {
  postpone('undici/lib/dispatcher/client-h2.js')
  Object.assign(require('undici/lib/dispatcher/dispatcher.js').prototype, require('undici/lib/api/index.js'))
  return {
    Agent: require('undici/lib/dispatcher/agent.js'),
    get ProxyAgent() {
      return require('undici/lib/dispatcher/proxy-agent.js')
    },
  }
}

/**
 * Delays the loading of a file until the function that the file exports is called. HTTP/2 is rarely needed.
 */
function postpone(name: string): void {
  const file = require.resolve(name)
  let call: ((...given: unknown[]) => unknown) | undefined
  const exports = (...given: unknown[]): unknown => {
    if (call === undefined) delete require.cache[file]
    call ??= require(file) as typeof call
    return call?.(...given)
  }
  require.cache[file] ??= Object.assign(new Module(file), { exports, loaded: true })
}
