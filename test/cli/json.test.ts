// @long
/**
 * With `--json`, every command prints a result on a demo installation that has the fields of its example in
 * build/docs/json-examples.json, of which the page of the JSON output shows a part. A failure is `{"error": …}`. `EXAMPLES=renew` writes the examples anew.
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import examples from '../../build/docs/json-examples.json' with { type: 'json' }
import { openService, type Service } from '../../src/service/open.ts'
import { listCommands } from '../support/docs/commands.ts'
import { runWarm } from '../support/process/warm-leadsheet.ts'
import { COMPANIES } from '../support/service.ts'

/** Commands that are not called here: they run until they are stopped, or were called before. */
const NOT_CALLED = ['run', 'service run', 'demo']
/** Commands without an example: they run until they are stopped, or need a service that answers, or a report that is held. */
const NO_EXAMPLE = ['run', 'service run', 'init', 'report approve', 'report test']

/** Commands with their required arguments. Some need the results of others, so their order matters. */
const GIVEN: readonly string[] = [
  'init --yes',
  'sync',
  'probe',
  'snapshot',
  'report preview daily -o daily.html',
  'report preview daily --to me@example.com',
  'report send daily',
  'report send nightly',
  'report approve daily',
  'report resend daily --failed',
  'report show',
  'report show daily',
  'report new mine',
  'recipients set paused you@example.com',
  'recipients set active you@example.com',
  'recipients set unsubscribed you@example.com',
  'recipients set active you@example.com',
  'recipients link you@example.com',
  'recipients link --revoke',
  'outbox resolve --recipient you@example.com --as lost --yes',
  'outbox resolve --recipient ops@example.com --as cancelled',
  'leads list --remote',
  'leads list --limit 2',
  'leads show LEAD --remote',
  'leads show LEAD',
  'figures',
  'figures won',
  'annotate 2026-11-13 campaign',
  'pipelines create --name Robots',
  'pipelines stats PIPELINE',
  'query SELECT+1',
  'alerts ack 1',
  'db backup copy.db',
  'db restore copy.db',
  'db copy --to copied.db',
  'webhooks register https://example.com/',
  'webhooks remove WEBHOOK --yes',
]

const failureSchema = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    hint: z.string().nullable(),
    mistakes: z.array(z.string()).optional(),
    not_before: z.string().optional(),
  }),
})

const SETTINGS = `web: { public_url: https://leads.example.com }
alerts: { recipients: [ops@example.com] }
`
/** An open alert, its message that waits, an unconfirmed message, and no address of the demo's service. */
const STATE = `DELETE FROM upstream_address;
  INSERT INTO alert (check_id, subject, state, seen, message, hint, first_seen_at, opened_at, announced)
  VALUES ('sync_failing', '', 'open', 3, 'three syncs failed', 'look at the log', '2026-11-20T07:00:00.000Z', '2026-11-20T07:00:00.000Z', 'nothing');
  INSERT INTO delivery (message_id, recipient, state, queued_at, state_at, next_attempt_at)
  VALUES ('<waits@example.com>', 'ops@example.com', 'pending', '2026-11-20T07:00:00.000Z', '2026-11-20T07:00:00.000Z', '2026-11-20T07:00:00.000Z');
  UPDATE delivery SET state = 'unconfirmed' WHERE recipient = 'you@example.com'`
const isRenewed = process.env['EXAMPLES'] === 'renew'
/** The days that the service of the demo has lived before; the examples of the page show those of the program. */
const PAST_DAYS = isRenewed ? 120 : 21
const root = mkdtempSync(join(tmpdir(), 'leadsheet-json-'))
/** The demo's installation, with settings that commands find there. */
const cwd = join(root, 'data/demo')
let service: Service
let env: Readonly<Record<string, string>>
const results = new Map<string, unknown>()
/** Arguments that come from earlier results. */
const FILLED: Readonly<Record<string, () => string>> = {
  WEBHOOK: () => idSchema.parse(results.get('webhooks register')).data.id,
  LEAD: () => firstSchema.parse(results.get('leads list')).data[0]?.id ?? '',
  PIPELINE: () => firstSchema.parse(results.get('leads list')).data[0]?.pipeline_id ?? '',
}
const firstSchema = z.object({ data: z.array(z.object({ id: z.string(), pipeline_id: z.string() })) })
const idSchema = z.object({ data: z.object({ id: z.string() }) })
const commands = await listCommands()
const lines = [
  ...GIVEN,
  ...commands.flatMap(({ name }) =>
    NOT_CALLED.includes(name) || GIVEN.some((line) => line.startsWith(`${name} `) || line === name)
      ? []
      : [name],
  ),
]

function startService(): Promise<Service> {
  const file = join(cwd, 'service.db')
  return openService({ file, companiesFile: COMPANIES, seed: 1, historyDays: PAST_DAYS })
}

beforeAll(async () => {
  mkdirSync(cwd, { recursive: true })
  // The demo goes on with this service, whose past is shorter than that of its own.
  await (await startService()).close()
  // A second demo goes on with the copy of the first one.
  for (const name of ['demo', 'demo again']) {
    const { status, stdout, stderr } = await runWarm(['demo', '--json'], { cwd: root, env: { TZ: 'UTC' } })
    expect(status, `${name}: ${stdout}${stderr}`).toBe(0)
    results.set(name, JSON.parse(stdout))
  }
  appendFileSync(join(cwd, 'leadsheet.yaml'), SETTINGS)
  const database = new Database(join(cwd, 'leadsheet.db'))
  database.exec(STATE)
  database.close()
  service = await startService()
  const key = await service.createKey({ name: 'test', scope: 'write' })
  mkdirSync(join(cwd, 'bounces'))
  env = {
    LEADSHEET_API_URL: service.url,
    LEADSHEET_API_KEY: key,
    LEADSHEET_MAIL_BOUNCES_URL: 'file:./bounces',
    TZ: 'UTC',
  }
})
afterAll(async () => {
  if (isRenewed) writeExamples()
  await service[Symbol.asyncDispose]()
  rmSync(root, { recursive: true })
})

it.each(lines)('%s', async (line) => {
  const args = line.split(' ').map((word) => FILLED[word]?.() ?? word.replace('+', ' '))
  const { stdout, stderr } = await runWarm([...args, '--json'], { cwd, env })
  // The fields of the upstream are others.
  if (stdout !== '' && !line.includes('--remote'))
    keepResult(line in examples ? line : nameOf(line), JSON.parse(stdout))
  const failure = stderr.split('\n').find((each) => each.startsWith('{"error"'))
  if (failure !== undefined) failureSchema.parse(JSON.parse(failure))
  expect(stdout !== '' || failure !== undefined, stderr).toBe(true)
})

it('the example of a sync is one that reads all', () => {
  expect(results.get('sync')).toMatchObject({ data: { complete: true } })
})

it('every command has an example, unless it can have none here', () => {
  const missing = commands.map(({ name }) => name).filter((name) => !Object.hasOwn(examples, name))
  expect(missing.sort()).toEqual(NO_EXAMPLE.toSorted())
})

/** Returns the full name of the command that a line calls. */
function nameOf(line: string): string {
  const names = commands.map(({ name }) => name).sort((one, other) => other.length - one.length)
  return names.find((name) => line === name || line.startsWith(`${name} `)) ?? line
}

/** Keeps the result of a command, and compares its fields with those of the example. */
function keepResult(name: string, result: unknown): void {
  results.set(name, result)
  if (isRenewed) return
  const shown: Readonly<Record<string, unknown>> = examples
  expect(differences(shown[name], result, name)).toEqual([])
}

/**
 * Lists the fields that only one of the two has. Where one has null, or a list without entries, nothing is known
 * of what is within.
 */
function differences(example: unknown, result: unknown, path: string): string[] {
  if (Array.isArray(example) && Array.isArray(result))
    return example.length > 0 && result.length > 0 ? differences(example[0], result[0], `${path}[]`) : []
  if (!isObject(example) || !isObject(result)) return []
  return [...new Set([...Object.keys(example), ...Object.keys(result)])].flatMap((key) => {
    const own = `${path}.${key}`
    // The rows of tables are named by the table, and the example has only some. Each lead has other enrichment.
    if (isObject(example[key]) && (key === 'rows' || key === 'enrichment')) return []
    if (!Object.hasOwn(result, key)) return [`${own} is only in the example`]
    if (!Object.hasOwn(example, key)) return [`${own} is not in the example`]
    return differences(example[key], result[key], own)
  })
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Writes the examples of the page on JSON output, without secrets and values of this machine. */
function writeExamples(): void {
  results.delete('demo again')
  const known = [...results].filter(([name]) => commands.some((each) => each.name === nameOf(name)))
  const shortened = Object.fromEntries(known.map(([name, result]) => [name, shorten(result)]))
  writeFileSync('build/docs/json-examples.json', `${JSON.stringify(shortened, null, 2)}\n`)
}

function shorten(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map((item) => shorten(item))
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).slice(0, key === 'rows' ? 3 : undefined)
    return Object.fromEntries(entries.map(([name, inner]) => [name, shorten(inner, name)]))
  }
  if (typeof value !== 'string') return value
  const text = value
    .replaceAll(cwd, '/srv/leadsheet')
    .replaceAll(root, '/srv')
    .replace(service.url, 'http://127.0.0.1:8484/api/v1')
  return /^(?:key|secret)$/.test(key)
    ? `${text.slice(0, 8)}…`
    : text.length > 90
      ? `${text.slice(0, 90)}…`
      : text
}
