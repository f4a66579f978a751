/**
 * The only error class for problems that a person can act on, its codes, and the format of commands in hints.
 * Any other error is a bug and is shown with its stack.
 */

import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The page docs/reference/exit-and-error-codes.md is generated from this list. */
export const ERROR_CODES = {
  api_forbidden: 'the API key is valid but may not do this',
  api_not_found: 'the upstream does not have this lead, pipeline or path',
  api_rejected: 'the upstream rejected the request as invalid',
  api_unauthorized: 'the upstream does not accept the API key, or its login gives no access token',
  api_unexpected: 'the answer of the upstream is not what its API should return',
  api_unreachable: 'the upstream could not be reached, or kept failing',
  api_deferred: 'the upstream asked for a longer wait than one run allows',
  config_invalid: 'the configuration has mistakes; the error lists all of them',
  config_missing: 'settings that this command needs are missing',
  data_network: 'the data directory is on a network file system, where SQLite can lose data',
  data_unwritable: 'the data directory or a file in it cannot be written',
  job_busy: 'another process is already doing this',
  job_killed: 'the system killed a process of leadsheet, perhaps because memory is short',
  mail_rejected: 'the mail server refused the message or a recipient',
  mail_unreachable: 'the mail server could not be reached or refused the login',
  query_failed: 'a query has a mistake, writes, or takes too much time or memory',
  report_failed: 'the figures of the report could not be read, or its page was empty',
  report_held: 'the report is held because its data is old, or has far fewer leads than before',
  report_not_kept: 'no such issue or message of the report is kept',
  report_unknown: 'no report has this name',
  report_no_data: 'there is no data yet; run a sync first',
  report_template: 'a template or report.yaml has a mistake',
  run_interrupted: 'Ctrl-C or a signal stopped the command before it finished',
  service_port: 'the reference service cannot listen on that port',
  service_data: 'the sample companies of the reference service cannot be read',
  snapshot_missing: 'there is no snapshot yet to query',
  store_corrupt: 'the database file is damaged or is not a leadsheet database',
  store_lost:
    'the database of an existing installation is missing or empty, or was replaced while it was open',
  store_other_source: 'api.url names another source than the stored leads came from',
  store_newer: 'the database was written by a newer leadsheet',
  store_older:
    'the database was written by an older leadsheet, and a command that only reads does not upgrade it',
  store_busy: 'the database is locked by another process',
  store_elsewhere: 'the command is not for this kind of store: it is in PostgreSQL, or it is a file',
  store_refused: 'the PostgreSQL server refused the login, or a permission that leadsheet needs',
  store_unreachable: 'the PostgreSQL server cannot be reached',
  store_taken: 'the target of a store copy already holds another installation',
  usage_invalid: 'a command, option or argument is wrong',
  web_port: 'the dashboard cannot listen at web.listen',
  webhook_unreadable: 'the file with the registered webhook cannot be read',
} as const

export type ErrorCode = keyof typeof ERROR_CODES

/**
 * An error that a person can act on.
 * @param code a code that never changes, in the form `area_reason`
 * @param message the name of the thing, the value found and what was expected; never contains a secret
 * @param options.hint the next action of the person, in one sentence
 * @param options.mistakes each mistake as a text of its own, if the message lists several
 * @param options.notBefore with api_deferred: the instant before which the upstream wants no request
 */
export class LeadsheetError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly notBefore: string | undefined
  readonly mistakes: readonly string[] | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; cause?: unknown; notBefore?: string; mistakes?: readonly string[] } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'LeadsheetError'
    this.code = code
    this.hint = options.hint
    this.notBefore = options.notBefore
    this.mistakes = options.mistakes
  }
}

/** Returns the text of anything that was thrown, so that a message can quote it. */
export function errorText(thrown: unknown): string {
  if (thrown instanceof AggregateError && !thrown.message) return errorText(thrown.errors[0])
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Without the system call and the path, such as `EACCES: permission denied`. */
export function faultText(thrown: unknown): string {
  return errorText(thrown).replace(/, \w+( '.*')?$/s, '')
}

/**
 * Names the place of each setting in a hint: `api.key (from /etc/api-key)` for `api.key (LEADSHEET_API_KEY)`. A
 * setting that is not set, or is set by a variable, stays as it is.
 * @param sources the place where each setting was given, as in `Config`
 */
export function withPlaces(hint: string, sources: Readonly<Record<string, string>>): string {
  const named = /(?<![a-z_.])([a-z_.]+) \(LEADSHEET_\w+(?: or LEADSHEET_\w+)*\)/g
  return hint.replaceAll(named, (found, name: string) => {
    const place = sources[name]?.replace(/ [\w.]+$/, '') ?? 'environment'
    return place === 'environment' ? found : `${name} (from ${place})`
  })
}

const FILE = fileURLToPath(import.meta.url)
const isClone = FILE.endsWith('.ts')
const isBelowHere = FILE.startsWith(join(process.cwd(), 'node_modules', sep))

/**
 * `npx leadsheet` in a clone and where `node_modules` has the program; elsewhere, as in a container,
 * `leadsheet`.
 */
export const CALLED = isClone || isBelowHere ? 'npx leadsheet' : 'leadsheet'

/** Formats a command for a hint, in backticks, so that a person can paste it where the program runs. */
export function shellCommand(args: string): string {
  return `\`${CALLED} ${args}\``
}
