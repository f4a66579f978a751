/**
 * `leadsheet probe`: finds out how an unknown upstream works, and writes a profile (the settings that
 * describe the upstream's API) that a person should review.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { MAX_WAIT_MS, openKeysOf, proxyOf } from '../../../app/configured-login.ts'
import { openSourceOf } from '../../../app/configured-upstream.ts'
import { type CheckResult, ok, warn } from '../../../checks/check.ts'
import { checkUpstream } from '../../../checks/upstream.ts'
import { Secret } from '../../../config/secrets.ts'
import { readProfile } from '../../../config/settings-file.ts'
import { CALLED, errorText, LeadsheetError, shellCommand } from '../../../errors.ts'
import { type Auth, openAsker } from '../../../probe/ask.ts'
import {
  describeChanges,
  fieldKinds,
  type KnownProfile,
  readKinds,
  readKnown,
} from '../../../probe/known-profile.ts'
import { type ProbeResult, probe } from '../../../probe/probe.ts'
import { profileText } from '../../../probe/profile-text.ts'
import { BACKOFF } from '../../../retry.ts'
import { isOpenHttp } from '../../../upstream/client/authorize.ts'
import { fixedKey } from '../../../upstream/client/key-source.ts'
import { addExamples, showing } from '../../command.ts'
import { checkText, STATUS_ENDINGS, worstOf } from '../../exit-status.ts'
import { type Paragraph, table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

/** After this time, the probe ends with what it knows. */
const DEADLINE_MS = 2 * 60_000

interface Options {
  readonly keyFile?: string
  readonly name?: string
  readonly check?: string
  readonly auth?: string
  readonly header?: readonly string[]
  readonly path?: string
  readonly output?: string
  readonly force?: boolean
}

export function defineProbe(command: Command, terminal: Terminal): void {
  command
    .argument('[url]', 'base address of the API, or the address of its list of leads (default: api.url)')
    .option('--key-file <file>', 'file with the API key (default: the key or the login of the settings)')
    .option('--auth <header>', "header that carries the key, if you know it: 'Name: value {key}'")
    .option('--header <header...>', "further header of every request, 'Name: value'; the profile gets it too")
    .option('--path <path>', 'path of the list of leads, if you know it')
    .option('--name <name>', 'name of the profile (default: the host)')
    .option('-o, --output <file>', 'write the profile to this file, or go on where it ended')
    .option('-f, --force', 'overwrite an existing file')
    .option('--check <profile>', 'say what changed upstream since this profile')
    .action(showing(terminal, runProbe))
  addExamples(command, [
    'probe https://crm.example.com/api -o profile.yaml',
    'probe https://crm.example.com --path /v2/contacts --key-file ./key',
    "probe https://crm.example.com/classes/Lead --auth 'X-App-Key: {key}' --header 'X-App-Id: 7'",
    'probe --check profile.yaml',
  ])
}

async function runProbe(terminal: Terminal, argument: string | undefined, options: Options): Promise<Result> {
  if (options.check !== undefined) return runCheck(terminal, argument, options, resolve(options.check))
  const config = await terminal.config()
  const url = urlOf(argument ?? config.api.url)
  const known = knownFrom(options, url)
  const given = keyOf(options)
  const log = await terminal.log()
  const keys =
    given === null ? openKeysOf(config, log, { backoff: BACKOFF.upstreamWhileWaiting }) : fixedKey(given)
  await using opened = new AsyncDisposableStack()
  opened.defer(keys.close)
  const key = await keys.current(terminal.signal)
  if (key !== '' && isOpenHttp(url)) {
    throw new LeadsheetError(
      'usage_invalid',
      `the address: found ${url.origin}, which would send the API key unencrypted over the internet, expected https://`,
    )
  }
  const asker = opened.use(
    openAsker({
      apiKey: keys,
      secret: config.api.secret?.reveal(),
      headers: Object.fromEntries((options.header ?? []).map((text) => headerOf('--header', text))),
      maxWaitMs: MAX_WAIT_MS,
      proxy: proxyOf(config),
      log,
      signal: terminal.signal,
      deadline: AbortSignal.timeout(DEADLINE_MS),
    }),
  )
  const started = performance.now()
  const result = await probe(asker, {
    base: url,
    path: options.path ?? null,
    key,
    auth: options.auth === undefined ? null : authOf(options.auth),
    name: options.name,
    known,
    onStep: (step) => terminal.note(`looking for ${step}`),
  })
  if (options.output !== undefined && result.input !== null) {
    const today = new Date().toISOString().slice(0, 10)
    writeProfile(options.output, profileText(result.input, result, url.href, today))
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const isComplete = result.profile !== null && !needsHand(result)
  terminal.end(result.input === null ? 'failed' : isComplete ? 'done' : 'partly')
  return {
    data: {
      url: url.href,
      complete: isComplete,
      findings: result.findings,
      gaps: result.gaps,
      tried: result.tried,
      profile: result.input,
      requests: asker.requests,
    },
    text: textOf(terminal, result, options.output ?? null),
    notes: [`${asker.requests} requests in ${seconds} s`],
  }
}

/** Asks the upstream a few questions about a profile, and compares the fields of its records with those of then. */
async function runCheck(
  terminal: Terminal,
  argument: string | undefined,
  options: Options,
  file: string,
): Promise<Result> {
  const config = await terminal.config()
  const url = urlOf(argument ?? config.api.url)
  const given = keyOf(options)
  const key = given === null ? {} : { key: new Secret(given), keyCommand: null, oauth: null }
  const api = { ...config.api, url: url.href, profile: readProfile(file, process.cwd()), ...key }
  const keyFile = given === null ? config.keyFile : null
  const backoff = BACKOFF.upstreamWhileWaiting
  const source = openSourceOf({ ...config, api, keyFile }, await terminal.log(), { backoff })
  const checks: CheckResult[] = []
  const sample: unknown[] = []
  try {
    for await (const check of checkUpstream(source, terminal.signal, sample)) checks.push(check)
  } finally {
    await source.close()
  }
  if (sample.length > 0) checks.push(checkKinds(readFileSync(file, 'utf8'), sample))
  const status = worstOf(checks)
  terminal.end(STATUS_ENDINGS[status])
  return {
    data: { url: url.href, status, checks },
    text: [checks.map((check) => checkText(terminal, check)).join('\n')],
  }
}

function checkKinds(profile: string, sample: readonly unknown[]): CheckResult {
  const before = readKinds(profile)
  if (before === null) return ok('fields', 'the profile does not say which the records had')
  const changes = describeChanges(before, fieldKinds(sample))
  return changes === ''
    ? ok('fields', `the same ${Object.keys(before).length} as when it was written`)
    : warn('fields', changes, 'correct the profile where it reads them, or probe into a new file')
}

/** @throws LeadsheetError usage_invalid, config_missing */
function urlOf(text: string | null): URL {
  if (text === null) {
    throw new LeadsheetError('config_missing', 'there is no address to probe', {
      hint: `Name it: ${shellCommand('probe https://crm.example.com/api')}`,
    })
  }
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '') return url
  throw new LeadsheetError(
    'usage_invalid',
    `the address: found ${JSON.stringify(text.slice(0, 80))}, expected a URL with http:// or https:// and without a user`,
    { hint: `Write it in full: ${shellCommand('probe https://crm.example.com/api')}` },
  )
}

/** @throws LeadsheetError usage_invalid */
function headerOf(option: string, text: string): [name: string, value: string] {
  const [, name, value] = /^([\w!#$%&'*+.^|~-]+):\s*(\S.*)$/.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  throw new LeadsheetError('usage_invalid', `${option}: found "${text.slice(0, 80)}", expected 'Name: value'`)
}

/** @throws LeadsheetError usage_invalid */
function authOf(text: string): Auth {
  const [header, value] = headerOf('--auth', text)
  if (/\{(key|basic)\}/.test(value)) return { header, value, headers: {} }
  throw new LeadsheetError(
    'usage_invalid',
    '--auth: found no {key}, expected where the key stands in the header',
    {
      hint: `Write --auth '${header}: {key}' and give the key by --key-file or LEADSHEET_API_KEY.`,
    },
  )
}

function keyOf({ keyFile }: Options): string | null {
  if (keyFile === undefined) return null
  try {
    return readFileSync(keyFile, 'utf8').trim()
  } catch (cause) {
    throw new LeadsheetError('usage_invalid', `cannot read the key file ${keyFile}: ${errorText(cause)}`, {
      cause,
    })
  }
}

/**
 * Returns what an earlier probe of this address wrote into the file before it ended; null if there is no file.
 * @throws LeadsheetError usage_invalid for any other file
 */
function knownFrom({ output, force = false }: Options, url: URL): KnownProfile | null {
  if (output === undefined || force || !existsSync(output)) return null
  const known = readKnown(readFileSync(output, 'utf8'))
  if (known?.url === url.href) return known
  throw new LeadsheetError('usage_invalid', `${output} is there already`, {
    hint: 'Name another file, or write over it with --force.',
  })
}

function writeProfile(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (cause) {
    throw new LeadsheetError('data_unwritable', `cannot write ${file}: ${errorText(cause)}`, { cause })
  }
}

/**
 * Returns true if a person must complete the profile. A gap is a part that the probe could not find out. A
 * person has to fill only the gaps that have a remedy.
 */
function needsHand({ gaps }: ProbeResult): boolean {
  return gaps.some(({ remedy }) => remedy !== null)
}

function textOf({ style }: Terminal, result: ProbeResult, file: string | null): Paragraph[] {
  const { findings, gaps, input, tried } = result
  const asked = input === null && tried.length > 0 ? ['Asked:', ...tried.map((line) => `  ${line}`)] : []
  const open = gaps.flatMap(({ place, problem, remedy }) => [
    `  ${place}: ${problem}`,
    ...(remedy === null ? [] : [`    by hand: ${remedy}`]),
  ])
  const next =
    file === null
      ? ['--output FILE writes the profile.']
      : [
          `The profile is in ${file}. Read it; then in leadsheet.yaml:`,
          '  api:',
          `    profile: ./${relative('', file)}`,
          `  ${CALLED} doctor   # asks again whether it holds`,
        ]
  return [
    table(findings, [
      { title: 'WHAT', value: ({ place }) => place },
      { title: 'FOUND', value: ({ value }) => value },
      { title: 'SURE', value: ({ confidence }) => confidence },
      { title: 'EVIDENCE', value: ({ evidence }) => evidence },
    ]),
    asked.join('\n'),
    open.length === 0 ? '' : [style('bold', 'Not found out'), ...open].join('\n'),
    input === null ? '' : next.join('\n'),
  ]
}
