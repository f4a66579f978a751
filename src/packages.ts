/**
 * Loads packages when they are first used, because loading all of them would take longer than most commands.
 * Types are imported in the ordinary way, because that loads nothing. This file also reads the version of the
 * program.
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

/** Packages that every start needs are imported in the ordinary way instead. */
export function loadPackage<Name extends keyof Packages>(name: Name): Packages[Name] {
  return require(name) as Packages[Name]
}

export function readVersion(): string {
  const file = new URL('../package.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).version
}
