/**
 * `leadsheet doctor`: checks everything that a sync and a report need, and says how to fix what is missing. A
 * check runs after the checks that it depends on.
 */

import { resolveTxt } from 'node:dns/promises'
import type { Command } from 'commander'
import { dkimOf, tryMessage } from '../../../app/configured-mail.ts'
import { tryReports } from '../../../app/configured-reports.ts'
import { scheduleWarnings } from '../../../app/configured-schedules.ts'
import { openSourceOf, profileOf, proxyOf } from '../../../app/configured-upstream.ts'
import type { CheckResult } from '../../../checks/check.ts'
import { attempt, ok, warn } from '../../../checks/check.ts'
import { checkUpstream } from '../../../checks/upstream.ts'
import type { Config } from '../../../config/config.ts'
import { requireSettings } from '../../../config/config.ts'
import { isAboutDashboard } from '../../../config/schema-web.ts'
import { shellCommand } from '../../../errors.ts'
import { proxyFor } from '../../../proxy.ts'
import { BACKOFF } from '../../../retry.ts'
import { checkData } from '../../checks/data-check.ts'
import { checkMailServer, checkSignature, checkUnsubscribe } from '../../checks/delivery-check.ts'
import { checkRuntime, compareClocks, thisRuntime } from '../../checks/machine-check.ts'
import { checkDashboard, checkWebhook } from '../../checks/web-check.ts'
import { addExamples } from '../../command.ts'
import { STATUS_COLORS, STATUS_ENDINGS, worstOf } from '../../exit-status.ts'
import type { Terminal } from '../../terminal/terminal.ts'

interface Options {
  readonly whole?: boolean
}

export function defineDoctor(command: Command, terminal: Terminal): void {
  command
    .option('--whole', 'check the whole database even if it is large')
    .action((options: Options) => runDoctor(terminal, options))
  addExamples(command, [
    'doctor',
    'doctor --whole',
    'doctor --json | jq \'.data.checks[] | select(.status != "ok")\'',
  ])
}

async function runDoctor(terminal: Terminal, options: Options): Promise<void> {
  // Invalid settings are not thrown here, because the first check reports them.
  const config = await terminal.config().catch(() => null)
  if (config !== null) requireSettings(config)
  const checks: CheckResult[] = []
  for await (const check of examine(terminal, { whole: options.whole === true })) {
    checks.push(check)
    if (!terminal.json) printCheck(terminal, check)
  }
  const status = worstOf(checks)
  if (terminal.json) terminal.printJson('doctor', { status, checks })
  terminal.end(STATUS_ENDINGS[status])
}

function printCheck(terminal: Terminal, { what, status, found, remedy }: CheckResult): void {
  const mark = terminal.style(STATUS_COLORS[status], status.padEnd(4))
  terminal.print(`${mark}  ${what.padEnd(14)}  ${found.replaceAll('\n', ' ')}`)
  if (remedy !== null) terminal.print(`${' '.repeat(22)}${terminal.style('dim', remedy)}`)
}

/** The part of the terminal that the checks need. */
export type Patient = Pick<Terminal, 'config' | 'log' | 'signal'>

/**
 * Yields each result as soon as it is known, so that a slow upstream does not hold back the other results.
 */
export async function* examine(
  patient: Patient,
  options: { readonly whole: boolean },
): AsyncGenerator<CheckResult> {
  const settings = await attempt('settings', 'fix the settings', async () =>
    ok('settings', (await patient.config()).file ?? 'only from environment variables'),
  )
  yield settings
  if (settings.status === 'fail') return
  const config = await patient.config()
  // Warnings about the dashboard are left to the dashboard check.
  for (const warning of config.warnings.filter((text) => !isAboutDashboard(text)))
    yield warn('settings', warning, `${shellCommand('config check')} shows all of them`)
  const now = new Date()
  yield* checkRuntime(config, thisRuntime(), now)
  const profile = await attempt('profile', 'fix the profile', async () =>
    ok('profile', `${profileOf(config).name}, ${config.api.profile?.origin ?? 'built in'}`),
  )
  yield profile
  if (config.proxy.http !== null || config.proxy.https !== null) yield ok('proxy', proxyText(config))
  const { checks, daemonState } = await checkData(config, { ...options, now })
  yield* checks
  if (profile.status === 'ok') {
    yield* checkSource(patient, config)
    const openSource = async () =>
      openSourceOf(config, await patient.log(), { backoff: BACKOFF.upstreamWhileWaiting })
    yield* checkWebhook(config, openSource, patient.signal)
  }
  yield checkTimes(config, now)
  yield await attempt('reports', `fix it; ${shellCommand('report watch NAME')} shows it`, async () => {
    await tryReports(config, patient.signal)
    const names = config.reports.map(({ name }) => name).join(', ')
    return ok('reports', names === '' ? 'none in the settings' : `${names}: templates and SQL are in order`)
  })
  yield await checkMail(patient, config)
  const key = dkimOf(config.mail)
  if (key !== null) yield await checkSignature(key, resolveTxt)
  if (config.reports.length > 0) yield checkUnsubscribe(config)
  yield await checkDashboard(config, daemonState === 'alive')
}

function proxyText(config: Config): string {
  const { url } = config.api
  const proxy = url === null ? null : proxyFor(new URL(url), proxyOf(config))
  if (url === null || proxy === null)
    return 'none to the service: NO_PROXY names it, or it is on this machine'
  return `${proxy.origin} to ${new URL(url).host}, from HTTPS_PROXY or HTTP_PROXY`
}

async function* checkSource({ log, signal }: Patient, config: Config): AsyncGenerator<CheckResult> {
  const checks: CheckResult[] = []
  const whole = await attempt('upstream', 'set api.url and api.key', async () => {
    const source = openSourceOf(config, await log(), { backoff: BACKOFF.upstreamWhileWaiting })
    try {
      for await (const check of checkUpstream(source, signal)) checks.push(check)
      const aheadMs = source.clockAheadMs()
      if (aheadMs !== null || checks[0]?.status !== 'fail') checks.push(compareClocks(aheadMs))
      return ok('upstream', `${source.usage.requests} requests`)
    } finally {
      await source.close()
    }
  })
  yield* checks
  if (whole.status !== 'ok') yield whole
}

function checkTimes(config: Config, now: Date): CheckResult {
  const [first] = scheduleWarnings(config, now)
  return first === undefined
    ? ok('schedules', 'the clocks of their zones show each of their times once')
    : warn('schedules', first, `see ${shellCommand('schedule')}; another time of the day spares it`)
}

async function checkMail({ log, signal }: Patient, config: Config): Promise<CheckResult> {
  const { smtp, reports } = config
  if (smtp.url === null) {
    return reports.length === 0
      ? ok('mail', 'no reports, no mail')
      : warn('mail', 'no mail server is set: reports cannot be sent', 'set smtp.url (LEADSHEET_SMTP_URL)')
  }
  const message = await attempt('mail', 'fix the addresses in the settings', async () => {
    await tryMessage(config)
    return ok('mail', 'a message can be made')
  })
  if (message.status !== 'ok') return message
  const remedy = 'check smtp.url (LEADSHEET_SMTP_URL)'
  return checkMailServer(smtp.url.reveal(), remedy, { log: await log(), signal })
}
