/**
 * Loads packages when they are first used, because loading all of them would take longer than most commands,
 * and reads the version of this program. A type is imported in the ordinary way, because that loads nothing.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

interface Packages {
  readonly '@css-inline/css-inline': typeof import('@css-inline/css-inline')
  readonly handlebars: typeof import('handlebars')
  readonly 'intl-messageformat': typeof import('intl-messageformat')
  readonly pg: typeof import('pg')
  readonly 'pg-boss': typeof import('pg-boss')
  readonly undici: typeof import('undici')
  readonly yaml: typeof import('yaml')
}

const require = createRequire(import.meta.url)

/** Returns what the package exports. A package that is needed at every start is imported instead. */
export function loadPackage<Name extends keyof Packages>(name: Name): Packages[Name] {
  return require(name)
}

export function readVersion(): string {
  const file = new URL('../package.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).version
}
