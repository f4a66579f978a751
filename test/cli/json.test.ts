/** With `--json` a result is `{"data": …}`, with `meta` beside a list, and a failure is `{"error": …}`, of every command. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { listCommands } from '../support/commands.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { runWarm } from '../support/warm-leadsheet.ts'

/** They print no result: a script, a schema, pages, or what goes on until it is stopped. */
const WITHOUT_RESULT = ['completion', 'config schema', 'report watch', 'run', 'service run', 'demo']

/** What commands are given that cannot do without; in this order, since some need what others have made. */
const GIVEN: readonly string[] = [
  'init --yes',
  'sync',
  'probe',
  'reload',
  'snapshot',
  'report preview daily -o daily.html',
  'report test daily --to me@example.com',
  'report send daily',
  'report send nightly',
  'report approve daily',
  'report resend daily --failed',
  'report show daily',
  'report compare daily',
  'report new mine',
  'recipients pause ana@example.com',
  'recipients resume ana@example.com',
  'recipients unsubscribe ana@example.com',
  'recipients frequency default ana@example.com',
  'recipients link ana@example.com',
  'outbox resolve daily ana@example.com --lost',
  'leads show nobody',
  'leads list --remote',
  'leads list --as-of 2999-01-01',
  'figures explain won',
  'pipelines create --name Robots',
  'pipelines stats pl_1',
  'query SELECT+1',
  'export lead -o leads.csv',
  'alerts ack 1',
  'db backup copy.db',
  'db restore copy.db',
  'db copy --to copied.db',
  'db grant analysts',
  'webhooks register https://hooks.example.com/',
  'service keys create --data service',
  'service keys list --data service',
  'service keys revoke key_1 --data service',
]

const resultSchema = z.strictObject({
  data: z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())]),
  meta: z.record(z.string(), z.unknown()).optional(),
})
const failureSchema = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    hint: z.string().nullable(),
    mistakes: z.array(z.string()).optional(),
    not_before: z.string().optional(),
  }),
})

const SETTINGS = `
mail: { url: file:./outbox, from: reports@example.com }
recipients: [ana@example.com]
`
const cwd = mkdtempSync(join(tmpdir(), 'leadsheet-json-'))
let upstream: Upstream
const commands = await listCommands()
const lines = [
  ...GIVEN,
  ...commands.flatMap(({ name }) =>
    WITHOUT_RESULT.includes(name) || GIVEN.some((line) => line.startsWith(`${name} `) || line === name)
      ? []
      : [name],
  ),
]

beforeAll(async () => {
  writeFileSync(join(cwd, 'leadsheet.yaml'), SETTINGS)
  upstream = await startUpstream(5)
})
afterAll(async () => {
  await upstream[Symbol.asyncDispose]()
  rmSync(cwd, { recursive: true })
})

it.each(lines)('%s', async (line) => {
  const env = { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'test-key' }
  const args = line.split(' ').map((word) => word.replace('+', ' '))
  const { stdout, stderr } = await runWarm([...args, '--json'], { cwd, env })
  if (stdout !== '') resultSchema.parse(JSON.parse(stdout))
  const failure = stderr.split('\n').find((each) => each.startsWith('{"error"'))
  if (failure !== undefined) failureSchema.parse(JSON.parse(failure))
  expect(stdout !== '' || failure !== undefined, stderr).toBe(true)
})

it('a failure with several mistakes lists each by itself', async () => {
  mkdirSync(join(cwd, 'wrong'))
  writeFileSync(join(cwd, 'wrong/leadsheet.yaml'), 'time_zone: Mars\nlog_level: loud\n')
  const { stderr } = await runWarm(['status', '--json'], { cwd: join(cwd, 'wrong') })
  const { error } = failureSchema.parse(JSON.parse(stderr))
  expect(error.mistakes).toHaveLength(2)
})
