/**
 * Loads packages when they are first used, because loading all of them would take longer than most commands.
 * Types are imported in the ordinary way, because that loads nothing. This file also reads the version of the
 * program.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

interface Packages {
  readonly '@css-inline/css-inline': typeof import('@css-inline/css-inline')
  readonly 'csv-parse/sync': typeof import('csv-parse/sync')
  readonly 'date-holidays': typeof import('date-holidays').default
  readonly handlebars: typeof import('handlebars')
  readonly 'intl-messageformat': typeof import('intl-messageformat')
  readonly pg: typeof import('pg')
  readonly 'pg-boss': typeof import('pg-boss')
  readonly undici: typeof import('undici')
  readonly yaml: typeof import('yaml')
}

const require = createRequire(import.meta.url)
/** The one file that the build makes of date-holidays, which takes 45 MB with the packages that it asks for. */
const HOLIDAYS_COPY = fileURLToPath(new URL('./date-holidays.cjs', import.meta.url))

/** Packages that every start needs are imported in the ordinary way instead. */
export function loadPackage<Name extends keyof Packages>(name: Name): Packages[Name] {
  const isCopied = name === 'date-holidays' && existsSync(HOLIDAYS_COPY)
  return require(isCopied ? HOLIDAYS_COPY : name) as Packages[Name]
}

export function readVersion(): string {
  const file = new URL('../package.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).version
}
