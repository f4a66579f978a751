// @long
/**
 * Runs every command line of the documentation, page by page, on an installation with a service, a mail
 * server and a fixed clock. The lists below have the lines that are not run or are refused, with the reasons.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openService } from '../../src/service/open.ts'
import { ask } from '../support/data/publishing.ts'
import { unknownArguments } from '../support/docs/commands.ts'
import { listShownLines } from '../support/docs/shown-commands.ts'
import { folderWith } from '../support/folder.ts'
import type { RunOptions } from '../support/leadsheet.ts'
import { openMailServer } from '../support/mail-server.ts'
import { openInTime } from '../support/network/in-time.ts'
import { quickFolder } from '../support/process/programs.ts'
import { clockStandingAt } from '../support/process/shifted-clock.ts'
import { runWarm } from '../support/process/warm-leadsheet.ts'
import { COMPANIES } from '../support/service.ts'

/** A page may have more than a hundred lines, and each of them is a command that is run. */
const PAGE_MS = 1_200_000
/** A Friday. */
const SHOWN_AT = '2026-11-20T08:30:00Z'

const RECIPIENTS = ['you', 'sie', 'ana', 'ben', 'dana', 'me'].map((name) => `  - ${name}@example.com`)
const SETTINGS = `
mail: { from: reports@example.com, bounces: { url: "file:./bounces" } }
alerts: { recipients: [ops@example.com] }
web: { public_url: "https://reports.example.com", trusted_proxies: [loopback], token_file: ./secrets/web-token }
recipients:
${RECIPIENTS.join('\n')}
reports: [{ name: daily, schedule: "0 7 * * *" }, { name: weekly, schedule: "0 7 * * 1" }]
`
const FILES: Readonly<Record<string, string>> = {
  'data/service/.keep': '',
  'data/bounces/.keep': '',
  'secrets/.keep': '',
  'faults.yaml': 'faults: [{ fault: status, status: 503, hits: [2] }]',
  'criteria.yaml': 'industries: [Industrials]',
  'secrets/web-token': 'a-token-of-the-documentation',
  'run/secrets/.keep': '',
  'backups/.keep': '',
  token: 'a-token-of-the-documentation',
}

/** The lines that are not run. */
const NOT_RUN: readonly RegExp[] = [
  // These change the machine; test/deploy and test/container hold the files.
  /^(?:sudo|journalctl|docker|kubectl) |\| sudo /,
  // These are about a copy of the repository.
  /^git (?:clone|commit) /,
  // These install, build, test or measure the clone that this test is in.
  /^npm (?:ci|pack|test|run (?!demo))/,
  /^(?:LOOK=\w+ )?npx (?:vitest|node|tsc) |^bash test\//,
  // These are other programs, and DuckDB need not be there.
  /^(?:openssl|curl|install|\(umask)|^duckdb /,
  // It is read when the program starts, for a certificate that there is not.
  /^export NODE_EXTRA_CA_CERTS/,
  // It reads an installation on another machine.
  /^sqlite3 \/(?:srv|var)\//,
  // These need a server of PostgreSQL of their own.
  /^(?:createdb|pg_dump|pg_restore|psql) /,
  // It asks questions; test/cli/init has them answered.
  /\bleadsheet init\b/,
  // It waits for minutes; test/cli has it run.
  / report test /,
  // It needs sudo.
  /^leadsheet\(\) /,
  // Its dashboard takes a port of its own; test/cli/demo-serve has it opened.
  / demo .*--serve/,
  // These need PostgreSQL; test/cli has them run with one.
  /\bdb copy |--database-url/,
]
/** Pages whose lines another test runs. */
const ELSEWHERE = new Set(['docs/tutorials/your-own-report.md'])

/**
 * Lines that end with a warning or a refusal here, because their subject does not exist, with the expected
 * words.
 */
const REFUSED: readonly (readonly [line: RegExp, says: RegExp])[] = [
  [/ leadsheet (?:status|doctor)\b/, /"data"|Daily leads|ok +settings/],
  [/ report resend daily --failed| report resend daily --all$/, /Nothing was sent/],
  [/ report approve daily/, /Nothing of report:daily is held/],
  [/ annotate --remove \d/, /There is no annotation 3/],
  [/ alerts ack \d/, /expected the number of an open alert/],
  [/ outbox resolve /, /no such message is/],
  [/ probe /, /looking for/],
  [/ --accept-deletions/, /nothing to accept/],
  [/ wh_0123456789abcdef/, /wh_0123456789abcdef/],
  [/ webhooks remove --yes$/, /changes come with each sync alone/],
  [/ db restore$/, /not named/],
  [/ "SELECT nam FROM agent"/, /no such column: nam/],
]

/** Commands that run until they are stopped. Only their names and options are checked; test/cli and test/crash run and stop them. */
const LASTING = /^(?:service )?run\b/

const byPage = Map.groupBy(
  listShownLines().filter(({ page, line }) => !ELSEWHERE.has(page) && !NOT_RUN.some((row) => row.test(line))),
  ({ page }) => page,
)

const base = mkdtempSync(join(quickFolder(), 'leadsheet-shown-'))
const closing: (() => Promise<void>)[] = []
/** Placeholders on the pages, with the values for this installation. */
const replacements: [RegExp, string][] = []
let env: Record<string, string> = {}

beforeAll(async () => {
  const service = await openService({
    file: join(base, 'data/service/service.db'),
    companiesFile: COMPANIES,
    seed: 7,
    historyDays: 60,
    rateLimitPerMinute: 1_000_000,
    webhooksToLoopback: true,
    now: () => Date.parse(SHOWN_AT),
  })
  const upstream = await openInTime(service.url, () => new Date(SHOWN_AT))
  const mail = await openMailServer()
  closing.push(
    () => upstream.close(),
    () => service.close(),
    async () => mail[Symbol.asyncDispose](),
  )
  const key = await service.createKey({ name: 'documentation', scope: 'write' })
  const address = `api: { url: "${upstream.url}", key_file: ./key }\n`
  const text = address + SETTINGS.replace('mail: { ', `mail: { url: "${mail.url}", `)
  const below = text.replaceAll('./', '../')
  const settings = { 'leadsheet.yaml': text, 'etc/leadsheet.yaml': below, 'deploy/leadsheet.yaml': below }
  for (const [file, text] of Object.entries({
    ...FILES,
    ...settings,
    key,
    'run/secrets/leads-key': key,
    'secrets/api-key': key,
    'run/secrets/mail-url': mail.url,
  })) {
    mkdirSync(dirname(join(base, file)), { recursive: true })
    writeFileSync(join(base, file), text, { mode: 0o600 })
  }
  cpSync('docs/queries', join(base, 'docs/queries'), { recursive: true })
  cpSync('deploy', join(base, 'deploy'), { recursive: true })
  env = { HOME: base, ...clockStandingAt(SHOWN_AT) }
  for (const args of [
    ['demo'],
    ['sync'],
    ['report', 'send', 'daily'],
    ['report', 'send', 'weekly'],
    ['db', 'backup', 'backups/leadsheet-2026-11-20.db'],
  ]) {
    const { status, stderr } = await runWarm(args, { cwd: base, env })
    expect(status, `${args.join(' ')}: ${stderr}`).toBe(0)
  }
  const firstId = (table: string): string =>
    ask<{ id: string }>(join(base, 'data/leadsheet.db'), `SELECT id FROM ${table} ORDER BY id`)[0]?.id ?? ''
  replacements.push(
    [/\bld_01\b/g, firstId('lead')],
    [/\bpl_01\b/g, firstId('pipeline')],
    [/https?:\/\/(?:leads|crm)\.example\.com[\w/.]*/g, upstream.url],
    [/smtp:\/\/mail\.example\.com:587/g, mail.url],
    [/(?<![\w.])\/(etc|run|tmp|backups)\//g, './$1/'],
  )
})

afterAll(async () => {
  for (const close of closing) await close()
  rmSync(base, { recursive: true })
})

it.each([...byPage.keys()])('each command line of %s is run', { timeout: PAGE_MS }, async (page) => {
  const cwd = folderWith()
  cpSync(base, cwd, { recursive: true })
  const own: Record<string, string> = {}
  const mistakes: string[] = []
  for (const { line } of byPage.get(page) ?? []) {
    const assigned = /^export (.*)$/.exec(line)
    if (assigned !== null) Object.assign(own, assignmentsIn(replaced(assigned[1] ?? '')).values)
    else mistakes.push(...(await tryLine(line, cwd, { ...env, HOME: cwd, ...own })))
  }
  expect(mistakes).toEqual([])
})

/** Runs a line. Returns the problem, or nothing if the line works. */
async function tryLine(shown: string, cwd: string, given: Record<string, string>): Promise<string[]> {
  const line = replaced(
    shown
      .replace(/^npm run demo(?: -- | ?)/, 'npx leadsheet demo ')
      .replace(/\bnpm start$/, 'npx leadsheet run'),
  ).trim()
  const { values, rest } = assignmentsIn(line)
  const [, command = '', then = ''] =
    /^(?:npx )?leadsheet ((?:'[^']*'|"[^"]*"|[^|>'"])*)(.*)$/s.exec(rest) ?? []
  const options: RunOptions = { cwd, env: { ...given, ...values } }
  if (command === '') return runInShell(line, '', options, shown)
  const args = splitWords(command)
  if (LASTING.test(command))
    return (await unknownArguments(args)).map((word) => `${shown}: there is no ${word}`)
  const { status, stdout, stderr } = await runWarm(args, options)
  const [, says = null] = REFUSED.find(([row]) => row.test(` ${rest}`)) ?? []
  if (says !== null)
    return says.test(`${stdout}${stderr}`)
      ? []
      : [`${shown}: expected ${says}, found ${status}: ${stdout}${stderr}`]
  if (status !== 0) return [`${shown}: ${status}: ${stderr}${stdout.slice(-600)}`]
  return then === '' ? [] : runInShell(`cat ${then}`, stdout, options, shown)
}

async function runInShell(
  line: string,
  input: string,
  { cwd, env }: RunOptions,
  shown: string,
): Promise<string[]> {
  const folder = shown.includes('snapshot.db') && !shown.includes('data/') ? join(cwd, 'data/demo') : cwd
  const script = `set -o pipefail; ${line.replaceAll(/\bjq /g, 'jq -e ').replaceAll('~', cwd)}`
  for (const [path] of script.matchAll(/(?<=>>? ?)\/\S+\//g)) mkdirSync(path, { recursive: true })
  const { status, stderr } = spawnSync('bash', ['-c', script], {
    cwd: folder,
    input,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: env?.['HOME'] },
  })
  return status === 0 ? [] : [`${shown}: ${status}: ${stderr}`]
}

/** Splits `A=1 B="2 3" npx leadsheet run` into its variables and the command. */
function assignmentsIn(line: string): { readonly values: Record<string, string>; readonly rest: string } {
  const values: Record<string, string> = {}
  let rest = line
  for (;;) {
    const [all, name, value] = /^([A-Z_]+)=((?:"[^"]*"|\S)*)\s*/.exec(rest) ?? []
    if (all === undefined || name === undefined || value === undefined) return { values, rest }
    values[name] = value.replaceAll('"', '')
    rest = rest.slice(all.length)
  }
}

function replaced(line: string): string {
  return replacements.reduce((text, [what, instead]) => text.replaceAll(what, instead), line)
}

function splitWords(line: string): string[] {
  return execFileSync('bash', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)
}
