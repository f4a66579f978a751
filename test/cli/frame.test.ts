/**
 * Rules for every command: help, usage errors, exit status, errors as JSON, and a reader that closes the
 * output.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { EXIT_STATUS, endingOf } from '../../src/cli/exit-status.ts'
import { LeadsheetError } from '../../src/errors.ts'
import { folderWith } from '../support/folder.ts'
import { finished, startLeadsheet } from '../support/leadsheet.ts'
import { listen } from '../support/network/http-server.ts'
import { clockStandingAt } from '../support/process/shifted-clock.ts'
import { checkTranscript } from '../support/process/transcript.ts'
import { runWarm } from '../support/process/warm-leadsheet.ts'
import { startService } from '../support/service.ts'

const ROOT = join(import.meta.dirname, '../..')

const LACKING = 'api: { url: "http://127.0.0.1:9" }\nreports: []\n'
const WRONG = 'time_zone: Mars\nlog_level: loud\n'
/** All that a daemon needs. */
const WHOLE = `
api: { url: "http://127.0.0.1:9", key: k-123456 }
mail: { url: "file:./outbox", from: r@example.com }
recipients: [ana@example.com]
reports: [{ name: monthly, schedule: last working day of the month at 17:00, period: month }]
`

function run(args: string) {
  return runWarm(args.split(' ').filter(Boolean), { cwd: folderWith() })
}

describe('help and version', () => {
  test('--version prints that of package.json', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(await run('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
  })

  test('--help lists every command and every exit status', async () => {
    const { status, stdout } = await run('--help')
    expect(status).toBe(0)
    for (const { name, summary } of COMMANDS) {
      expect(stdout.replace(/\s+/g, ' ')).toContain(` ${name} ${summary}`)
    }
    for (const { status, meaning } of Object.values(EXIT_STATUS))
      expect(stdout).toContain(`${status}  ${meaning}`)
  })

  test('the help of a command shows its options, the global ones and examples', async () => {
    const { stdout } = await run('leads list --help')
    expect(stdout).toMatch(
      /--min-score <number>[\s\S]*--config <file>[\s\S]*Examples:\n {2}\$ npx leadsheet leads list/,
    )
    expect((await run('help leads list')).stdout).toBe(stdout)
  })

  test('no command at all shows the help on stderr', async () => {
    const { status, stdout, stderr } = await run('')
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^Usage: npx leadsheet[\s\S]*error: a command is missing\n/)
  })
})

test('what a command needs and is not set is named; where nothing is yet, that is said, and nothing is made', async () => {
  const cwd = folderWith({ 'lacking.yaml': LACKING, 'whole.yaml': WHOLE, 'wrong.yaml': WRONG })
  const env = clockStandingAt('2026-11-20T07:00:00Z')
  await checkTranscript(join(import.meta.dirname, 'golden/settings.txt'), { cwd, env })
})

test('an error ends the program by its code, and a bug as failed', () => {
  const codes = [
    'config_invalid',
    'usage_invalid',
    'api_deferred',
    'run_interrupted',
    'api_unreachable',
  ] as const
  const errors = [...codes.map((code) => new LeadsheetError(code, 'x')), new TypeError('x')]
  expect(errors.map(endingOf)).toEqual(['usage', 'usage', 'deferred', 'interrupted', 'failed', 'failed'])
})

test('Ctrl-C ends a request in hand, with a status of its own', async () => {
  const server = createServer()
  onTestFinished(() => void server.close())
  const env = { LEADSHEET_API_URL: `http://127.0.0.1:${await listen(server)}`, LEADSHEET_API_KEY: 'k-123456' }
  const child = startLeadsheet(['agents'], { cwd: folderWith(), env })
  const [socket] = await once(server, 'connection')
  socket.resume()
  const leaving = finished(child)
  child.kill('SIGINT')
  expect(await leaving).toEqual({
    status: 130,
    stdout: '',
    stderr: expect.stringMatching(/^error: stopped by SIGINT\nhint: .*\n$/),
  })
})

test('a sync whose reader leaves early ends as it would have', async () => {
  await using service = await startService(folderWith(), new Date('2026-11-20T07:00:00Z'), 5)
  const main = join(ROOT, 'src/main.ts')
  const cwd = folderWith()
  const env = {
    ...process.env,
    LEADSHEET_API_URL: service.url,
    LEADSHEET_API_KEY: await service.createKey({ name: 'test', scope: 'read' }),
  }
  const command = `set -o pipefail; "${process.execPath}" "${main}" sync --verbose 2>&1 | head -n 1`
  const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd, env })
  expect(stdout.split('\n')).toHaveLength(2)
  const database = new Database(join(cwd, 'data/leadsheet.db'), { readonly: true })
  using _ = { [Symbol.dispose]: () => void database.close() }
  expect(database.prepare('SELECT outcome FROM sync_run').pluck().all()).toEqual(['ok'])
})
