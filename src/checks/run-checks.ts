/** The table of all checks, which alone decide whether an installation is healthy. */
import { LeadsheetError, shellCommand, withPlaces } from '../errors.ts'
import { upperFirst } from '../report/words/clean-text.ts'
import { counted } from '../report/words/numbers.ts'
import { nextScheduledRun } from '../schedule/scheduled-runs.ts'
import { countLeads } from '../store/leads/lead.ts'
import { countQuarantinedRecords } from '../store/leads/quarantined-record.ts'
import { formatAge, formatSpan } from '../time.ts'
import type { Check, CheckResult, Facts, Finding, Installation, Knowledge, Part, Severity } from './check.ts'
import { ok, PARTS, plain, readFacts } from './check.ts'
import { EVENT_CHECKS } from './events.ts'
import { LEAD_CHECKS } from './leads.ts'
import { MACHINE_CHECKS } from './machine.ts'
import { MAIL_CHECKS } from './mail.ts'
import { REPORT_CHECKS } from './reports.ts'
import { SETTINGS_CHECKS } from './settings.ts'
import { type Freshness, isLastSyncWhole, readFreshness, SYNC_CHECKS } from './sync.ts'

export interface Found extends Finding {
  readonly check: CheckId
}

export interface AlertFindings {
  readonly findings: readonly Found[]
  /** The ids of the checks that could not look or that failed. The open alerts of these checks stay open. */
  readonly unknown: ReadonlySet<string>
}

/** Runs the checks that open alerts; a failing check does not stop the others. */
export async function findForAlerts(
  facts: Facts,
  onFailure: (thrown: unknown, check: CheckId) => void,
): Promise<AlertFindings> {
  const findings: Found[] = []
  const unknown = new Set<string>()
  for (const check of ALERTING_IDS) {
    try {
      const found = await findPlaced(facts, check)
      if (found === null) unknown.add(check)
      else findings.push(...found.map((finding) => ({ ...finding, check })))
    } catch (thrown) {
      unknown.add(check)
      onFailure(thrown, check)
    }
  }
  return { findings, unknown }
}

export interface PartResult extends CheckResult<Part> {
  /** The findings of all checks that belong to this part, the worst first. */
  readonly findings: readonly (Found & { readonly severity: Severity })[]
}

export interface Health {
  readonly status: 'ok' | Severity
  /** Writes `All is well: last sync 4 min ago, 5,706 leads, next report in 3 h`, or what is not, the worst first. */
  readonly sentence: string
  /** In the order of {@link PARTS}. Only `findings` may contain addresses and text from other servers. */
  readonly checks: readonly PartResult[]
  readonly freshness: readonly Freshness[]
}

/**
 * Judges the health of an installation from its store. This takes little time, because no request is sent and
 * no large table is read.
 * @throws LeadsheetError store_* if the store cannot be read
 */
export async function readHealth(
  installation: Installation,
  now: Date,
  knowledge: Knowledge = {},
): Promise<Health> {
  const facts = readFacts(installation, knowledge, now)
  const byPart = new Map<Part, (Found & { severity: Severity })[]>()
  for (const check of CHECK_IDS) {
    const { part, severity, shownIn } = CHECKS[check]
    if (!shownIn.includes('status')) continue
    for (const finding of await findForStatus(facts, check)) {
      byPart.set(part, [...(byPart.get(part) ?? []), { severity, ...finding, check }])
    }
  }
  const checks: PartResult[] = []
  for (const part of PARTS) {
    const findings = (byPart.get(part) ?? []).sort((a, b) => weightOf(b.severity) - weightOf(a.severity))
    checks.push(findings.length > 0 ? resultOf(part, findings) : { ...ok(part, 'nothing found'), findings })
  }
  const freshness: Freshness[] = []
  for (const part of facts.reportedParts) freshness.push(await readFreshness(facts, part))
  const [worst, ...others] = ['fail', 'warn'].flatMap((status) =>
    checks.filter((check) => check.status === status),
  )
  return {
    status: worst?.status ?? 'ok',
    sentence: worst ? formatWrong(worst, others) : await formatAllWell(facts, freshness),
    checks,
    freshness,
  }
}

/** The hints of findings say where the settings that they name stand. */
async function findPlaced(facts: Facts, check: CheckId): Promise<readonly Finding[] | null> {
  const found = await CHECKS[check].find(facts)
  return found?.map((finding) => ({ ...finding, hint: withPlaces(finding.hint, facts.sources) })) ?? null
}

/** If the check could not look, its open alerts. Acknowledged warnings wait until the problem comes again. */
async function findForStatus(facts: Facts, check: CheckId): Promise<Finding[]> {
  const alerts = (await facts.openAlerts()).filter((alert) => alert.checkId === check)
  const found = await findPlaced(facts, check).catch((thrown: unknown): Finding[] => {
    if (!(thrown instanceof LeadsheetError) || thrown.code.startsWith('store_')) throw thrown
    return plain(thrown.message, thrown.hint ?? '')
  })
  if (found === null) {
    return alerts
      .filter(({ acknowledgedAt }) => acknowledgedAt === null)
      .map(({ subject, message, hint }) => ({ subject, message, hint, severity: 'warn' }))
  }
  return found.filter((finding) => {
    const isFailing = (finding.severity ?? CHECKS[check].severity) === 'fail'
    const known = alerts.find(({ subject }) => subject === finding.subject)?.acknowledgedAt ?? null
    return isFailing || known === null || (finding.last !== undefined && finding.last > known)
  })
}

function weightOf(severity: Severity): number {
  return severity === 'fail' ? 1 : 0
}

function resultOf(part: Part, findings: PartResult['findings']): PartResult {
  const [worst] = findings
  const texts = findings.map(({ brief, check }) => brief ?? CHECKS[check].title)
  return {
    what: part,
    status: worst?.severity ?? 'warn',
    found: [...new Set(texts)].join(part === 'events' ? ' ' : '; '),
    // The hint about a recipient contains the recipient's address, so another hint is shown here.
    remedy: part === 'recipients' ? `${shellCommand('alerts list')} tells more` : (worst?.hint ?? null),
    findings,
  }
}

function formatWrong(worst: PartResult, others: readonly PartResult[]): string {
  const said = worst.found.replace(/\.$/, '')
  const first = upperFirst(NAMED.includes(worst.what) ? `${worst.what}: ${said}` : said)
  if (others.length === 0) return `${first}.`
  const names = others.flatMap(({ what, findings }) => {
    const titles = findings.filter(({ brief }) => brief === undefined).map(({ check }) => CHECKS[check].title)
    return titles.length === findings.length ? [...new Set(titles)] : [what]
  })
  return `${first}. And ${names.length} more: ${names.join(', ')}.`
}

/** Their name is put before the findings, whose text alone cannot be understood. */
const NAMED: readonly Part[] = ['messages']

async function formatAllWell(facts: Facts, freshness: readonly Freshness[]): Promise<string> {
  const { db, now, schedules } = facts
  const isDaemonThere = (await facts.daemonState()) !== 'none'
  const asOf = freshness[0]?.asOf ?? null
  const reports = schedules
    .filter(({ name }) => name.startsWith('report:'))
    .flatMap(({ timing }) => nextScheduledRun(timing, now)?.getTime() ?? [])
  const parts = [
    asOf === null ? null : `last sync ${formatAge(now, asOf)} ago`,
    counted(await countLeads(db), 'lead'),
    reports.length === 0 || !isDaemonThere
      ? null
      : `next report in ${formatSpan(Math.min(...reports) - now.getTime())}`,
  ].filter((part) => part !== null)
  const doubts = await listDoubts(facts, freshness)
  return [`${doubts.length === 0 ? 'All is well' : 'No new problem'}: ${parts.join(', ')}`, ...doubts].join(
    '; ',
  )
}

/** Names what no check finds, but what cannot be shown to be well either. */
async function listDoubts(facts: Facts, freshness: readonly Freshness[]): Promise<string[]> {
  const quarantined = await countQuarantinedRecords(facts.db)
  const known = (await facts.openAlerts()).filter(({ acknowledgedAt }) => acknowledgedAt !== null)
  const titles = new Set(known.map(({ checkId }) => alertFacts(checkId).title))
  return [
    !(await isLastSyncWhole(facts)) && 'the last sync did not finish',
    ...freshness.map(({ resource, asOf }) => asOf === null && `no sync has read the ${resource}`),
    quarantined > 0 && `${counted(quarantined, 'record')} quarantined`,
    titles.size > 0 && `acknowledged: ${[...titles].join(', ')}`,
    (await facts.daemonState()) === 'none' && 'no daemon has run, so nothing is synced or mailed by itself',
  ].filter((doubt) => doubt !== false)
}

const TABLE = {
  ...SYNC_CHECKS,
  ...EVENT_CHECKS,
  ...LEAD_CHECKS,
  ...REPORT_CHECKS,
  ...MAIL_CHECKS,
  ...MACHINE_CHECKS,
  ...SETTINGS_CHECKS,
} as const

export type CheckId = keyof typeof TABLE
export const CHECKS: Readonly<Record<CheckId, Check>> = TABLE
export const CHECK_IDS = Object.keys(TABLE) as readonly CheckId[]
export const ALERTING_IDS = CHECK_IDS.filter((id) => CHECKS[id].shownIn.includes('alerts'))

/**
 * Returns the title of a check, and when the check opens alerts.
 * @param id the id of a check, from a stored alert. If this version does not know the check, the id becomes
 * the title.
 */
export function alertFacts(id: string): Pick<Check, 'title' | 'alert'> & { readonly part?: Part } {
  const known: Readonly<Record<string, Check>> = CHECKS
  return known[id] ?? { title: id.replaceAll('_', ' '), alert: 'at_once' }
}
