/**
 * `leadsheet doctor`: checks everything that a sync and a report need, and says how to fix what is missing. A
 * check runs after the checks that it depends on.
 */

import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { openKeysOf, tryKeys } from '../../../app/configured-login.ts'
import { tryMessage } from '../../../app/configured-mail.ts'
import { tryReports } from '../../../app/configured-reports.ts'
import { openSourceOf, profileOf } from '../../../app/configured-upstream.ts'
import { installationOf } from '../../../app/health-installation.ts'
import { openDataIfThere, storePlaceOf } from '../../../app/installation.ts'
import { tryGroup } from '../../../app/publishing.ts'
import type { CheckResult, Knowledge, Part } from '../../../checks/check.ts'
import { attempt, checkRules, fail, isInMemory, ok, readFacts, warn } from '../../../checks/check.ts'
import { alertFacts, CHECK_IDS, type PartResult, readHealth } from '../../../checks/run-checks.ts'
import { checkUpstream } from '../../../checks/upstream.ts'
import { type Config, requireSettings } from '../../../config/config.ts'
import { isAboutDashboard } from '../../../config/schema-web.ts'
import { isWorldReadable } from '../../../config/settings-file.ts'
import { shellCommand, withPlaces } from '../../../errors.ts'
import { BACKOFF } from '../../../retry.ts'
import { listAlerts } from '../../../store/alerts/alert.ts'
import { DATA_MODE, findPassingFileSystem, makeFolder } from '../../../store/db/file-system.ts'
import { nameOf } from '../../../store/db/place.ts'
import type { Source } from '../../../upstream/source.ts'
import { addExamples, showing } from '../../command.ts'
import { checkDeliverability, checkSizes } from '../../deliverability/deliverability.ts'
import { type AskDns, createAskDns } from '../../deliverability/spf.ts'
import { checkText, STATUS_ENDINGS, worstOf } from '../../exit-status.ts'
import {
  checkDashboard,
  checkMailbox,
  checkMailServer,
  checkPostgres,
  checkUnsubscribe,
  checkWebhook,
} from '../../installation-checks.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'
import { sendTestAlert } from './test-alert.ts'

interface Options {
  readonly whole?: boolean
  readonly testAlert?: boolean
  /** True for settings that were just written: there are no data yet. */
  readonly isNew?: boolean
  /** Asks the DNS; the servers of this machine if absent. */
  readonly ask?: AskDns
}

export function defineDoctor(command: Command, terminal: Terminal): void {
  command
    .option('--whole', 'check the whole database even if it is large')
    .option('--test-alert', 'also send a test alert through every configured channel')
    .action(showing(terminal, runDoctor))
  addExamples(command, [
    'doctor',
    'doctor --whole',
    'doctor --test-alert',
    'doctor --json | jq \'.data.checks[] | select(.status != "ok")\'',
  ])
}

async function runDoctor(terminal: Terminal, options: Options): Promise<Result> {
  // Invalid settings are not thrown here, because the first check reports them.
  const config = await terminal.config().catch(() => null)
  if (config !== null) requireSettings(config)
  const checks: CheckResult[] = []
  for await (const check of examine(terminal, options)) {
    checks.push(check)
    if (!terminal.json) terminal.print(checkText(terminal, check))
  }
  const status = worstOf(checks)
  terminal.end(STATUS_ENDINGS[status])
  return { data: { status, checks } }
}

/** The part of the terminal that the checks need. */
type Patient = Pick<Terminal, 'config' | 'log' | 'signal'>

/** Matches the end of a hint that advises what runs already. */
const OWN_ADVICE = /[:;] `[^`]* doctor` tries (?:it|them)/

/**
 * Yields each result as soon as it is known, so that a slow upstream does not hold back the other results.
 */
export async function* examine(patient: Patient, options: Options): AsyncGenerator<CheckResult> {
  for await (const check of examineAll(patient, options)) {
    const config = await patient.config().catch(() => null)
    const remedy = check.remedy?.replace(OWN_ADVICE, '')
    yield { ...check, remedy: remedy === undefined ? null : withPlaces(remedy, config?.sources ?? {}) }
  }
}

async function* examineAll(
  patient: Patient,
  { whole = false, testAlert = false, isNew = false, ask }: Options,
): AsyncGenerator<CheckResult> {
  const settings = await attempt('settings', 'fix the settings', async () =>
    ok('settings', (await patient.config()).file ?? 'only from environment variables'),
  )
  if (settings.status === 'fail') {
    yield fail('settings', `${settings.found}\nThe other checks need the settings.`, settings.remedy ?? '')
    return
  }
  yield settings
  const config = await patient.config()
  // Warnings about the dashboard are left to the dashboard check.
  for (const warning of config.warnings.filter((text) => !isAboutDashboard(text)))
    yield warn('settings', warning, `${shellCommand('config check')} shows all of them`)
  const now = new Date()
  yield ok('node', `${process.versions.node}, zone data ${process.versions.tz}`)
  const profile = await attempt('profile', 'fix the profile', async () =>
    ok('profile', `${profileOf(config).name}, ${config.api.profile?.origin ?? 'built in: no api.profile'}`),
  )
  // A new installation does not know yet whether the service is the reference service.
  if (!isNew || config.api.profile !== null || profile.status !== 'ok') yield profile
  const proxy = config.proxy.https ?? config.proxy.http
  if (proxy !== null) yield ok('proxy', `${new URL(proxy.reveal()).origin}, from HTTPS_PROXY or HTTP_PROXY`)
  const login = await attempt('login', 'see docs/how-to/log-in-to-your-crm.md', async () => {
    const keys = openKeysOf(config, await patient.log(), { backoff: BACKOFF.upstreamWhileWaiting })
    return ok('login', (await tryKeys(keys, patient.signal)) ?? '')
  })
  if (login.found !== '') yield login
  const openSource = async () =>
    openSourceOf(config, await patient.log(), { backoff: BACKOFF.upstreamWhileWaiting })
  const canAsk = profile.status === 'ok' && login.status === 'ok'
  const clock = canAsk ? yield* checkSource(openSource, patient.signal) : null
  const isRunning = isNew ? false : yield* checkData(config, { whole, now, clock })
  if (canAsk) yield* checkWebhook(config, openSource, patient.signal)
  yield await attempt('reports', `fix it; ${shellCommand('report preview NAME')} tries it`, async () => {
    await tryReports(config, patient.signal)
    const names = config.reports.map(({ name }) => name).join(', ')
    return ok('reports', names === '' ? 'none in the settings' : `${names}: templates and SQL are in order`)
  })
  const { group } = config.snapshot
  if (group !== null) {
    yield await attempt('snapshot.group', 'set it to a group of this machine', async () => {
      await tryGroup(config)
      return ok('snapshot.group', group)
    })
  }
  yield* checkMail(patient, config)
  yield* checkDeliverability(config, ask ?? createAskDns())
  if (config.reports.length > 0) yield checkUnsubscribe(config)
  yield* checkOperators(config)
  yield await checkDashboard(config, isRunning)
  if (testAlert) yield* sendTestAlert(config, patient)
}

/** Checks the data, and returns whether a daemon runs on them. */
async function* checkData(
  config: Config,
  { whole, now, clock }: { readonly whole: boolean; readonly now: Date; readonly clock: Knowledge | null },
): AsyncGenerator<CheckResult, boolean> {
  const folder = await attempt('data directory', FOLDER_REMEDY, () => checkFolder(config))
  yield folder
  if (folder.status === 'fail') return false
  const place = storePlaceOf(config)
  const checks: CheckResult[] = []
  let isRunning = false
  const remedy =
    place.kind === 'sqlite'
      ? 'see docs/how-to/back-up-and-restore.md, "If the database is damaged"'
      : 'check database_url (LEADSHEET_DATABASE_URL), and that PostgreSQL runs there'
  const opened = await attempt('database', remedy, async () => {
    await using store = await openDataIfThere(config)
    if (isInMemory(store.place))
      return warn('database', `there is no ${nameOf(place)} yet`, `${shellCommand('sync')} makes it`)
    if (place.kind === 'postgres') checks.push(...(await Array.fromAsync(checkPostgres(store.db))))
    checks.push(...(await checkRules(store, { whole, now })))
    const installation = installationOf(config, store)
    const { checks: parts, freshness } = await readHealth(installation, now, clock ?? {})
    const isNew = freshness.every(({ asOf }) => asOf === null)
    const found = parts.flatMap((part) => resultsOf(part, isNew))
    checks.push(...found)
    if (found.length === 0) checks.push(ok('checks', `none of ${CHECK_IDS.length} finds anything`))
    const known = new Set(parts.flatMap(({ findings }) => findings.map(({ check }) => check as string)))
    const alerts = await listAlerts(store.db, 'open', ALERTS_MAX)
    for (const { id, checkId: check, message, hint } of alerts.filter((alert) => !known.has(alert.checkId)))
      checks.push(warn('alert', `No. ${id}, ${alertFacts(check).title}: ${message}`, hint))
    checks.push(...(await Array.fromAsync(checkSizes(store.db, config))))
    isRunning = (await readFacts(installation, {}, now).daemonState()) === 'alive'
    return ok('database', nameOf(place))
  })
  yield opened
  yield* checks
  return isRunning
}

const ALERTS_MAX = 20
const FOLDER_REMEDY = 'set data_dir (LEADSHEET_DATA_DIR) to a folder that this user may write to'

async function checkFolder(config: Config): Promise<CheckResult> {
  const { dataDir } = config
  const place = storePlaceOf(config)
  await makeFolder(dataDir, FOLDER_REMEDY, DATA_MODE)
  if (place.kind === 'sqlite' && existsSync(place.file) && isWorldReadable(place.file)) {
    return warn(
      'data directory',
      `every user of this machine can read ${place.file}, with recipients and the key of their links`,
      `stop the daemon and run \`chmod 600 ${place.file}*\``,
    )
  }
  const passing = await findPassingFileSystem(dataDir)
  return passing === null || place.kind === 'postgres'
    ? ok('data directory', dataDir)
    : warn(
        'data directory',
        `${dataDir}, ${passing}: what is on it is gone with the container or the machine`,
        'set data_dir (LEADSHEET_DATA_DIR) to a disk, or mount a volume there',
      )
}

/** The displayed names of parts of the local copy whose own names are those of checks of the upstream. */
const CALLED: { readonly [What in Part]?: string } = {
  leads: 'copy of leads',
  statistics: 'copy of stats',
  agents: 'copy of agents',
}

/**
 * Returns one result for each finding (problem) of a part, with the finding's full message. Before the first
 * sync, missing leads are only a warning.
 */
function resultsOf({ what, findings }: PartResult, isNew: boolean): CheckResult[] {
  const called = CALLED[what] ?? what
  return findings.map(({ severity, message, hint }) =>
    (severity === 'fail' && !(what === 'leads' && isNew) ? fail : warn)(called, message, hint),
  )
}

/** Checks that an installation that mails reports has somebody who gets alerts. */
function* checkOperators({ alerts, mail, reports }: Config): Generator<CheckResult> {
  const { recipients, webhook, heartbeat } = alerts
  const isMailing = mail.url !== null && reports.some((report) => report.recipients.length > 0)
  if (isMailing && recipients.length === 0 && webhook === null && heartbeat === null) {
    yield warn(
      'operators',
      'nobody gets alerts',
      'set alerts.recipients (LEADSHEET_ALERT_RECIPIENTS), and alerts.webhook.url beside it',
    )
  }
}

/** Asks the upstream, and returns what its answers tell of the clock; null if it could not be asked. */
async function* checkSource(
  open: () => Promise<Source>,
  signal: AbortSignal,
): AsyncGenerator<CheckResult, Knowledge | null> {
  const checks: CheckResult[] = []
  let clock: Knowledge | null = null
  const whole = await attempt('upstream', 'set api.url and api.key', async () => {
    const source = await open()
    try {
      for await (const check of checkUpstream(source, signal)) checks.push(check)
      const aheadMs = source.clockAheadMs()
      clock = { clockAheadMs: () => aheadMs }
      return ok('upstream', `${source.usage.requests} requests`)
    } finally {
      await source.close()
    }
  })
  yield* checks
  if (whole.status !== 'ok') yield whole
  return clock
}

async function* checkMail({ log, signal }: Patient, config: Config): AsyncGenerator<CheckResult> {
  const { mail, reports } = config
  if (mail.url === null) {
    yield reports.length === 0
      ? ok('mail', 'no reports, no mail')
      : warn('mail', 'no mail server is set: reports cannot be sent', 'set mail.url (LEADSHEET_MAIL_URL)')
    return
  }
  const message = await attempt('mail', 'fix the addresses in the settings', async () => {
    await tryMessage(config)
    return ok('mail', 'a message can be made')
  })
  const asking = { log: await log(), signal }
  if (message.status === 'ok') yield* checkMailServer(config, asking)
  else yield message
  yield* checkMailbox(config, asking)
}
