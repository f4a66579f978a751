/** Builds the web pages of the daemon from the settings. */

import { readHealth } from '../checks/run-checks.ts'
import type { Config } from '../config/config.ts'
import { dashboardAccess, eventSecrets, TOKEN_REMEDY } from '../config/schema-web.ts'
import type { WebhookIntake } from '../jobs/events/webhook-intake.ts'
import { registrationFile, watchSecrets } from '../jobs/events/webhook-registration.ts'
import { readMeasures } from '../jobs/metric-values.ts'
import { type ProviderDeps, takeProviderEvent } from '../jobs/outbox/read-bounces.ts'
import { openPreferencePage } from '../jobs/reports/preferences.ts'
import type { StartedDaemon } from '../jobs/schedule/daemon.ts'
import type { Log } from '../log.ts'
import { readVersion } from '../packages.ts'
import { openWebPages } from '../report/preferences/page.ts'
import type { Templates } from '../report/render/templates.ts'
import { isWriteLocked } from '../store/db/sqlite.ts'
import type { Store } from '../store/db/store.ts'
import { endedSessionsIn } from '../store/reports/ended-session.ts'
import { createSignInGuard, signInRoutes } from '../web/auth/sign-in.ts'
import type { ActionDeps } from '../web/dashboard/actions/actions.ts'
import { actionRoutes } from '../web/dashboard/actions/routes.ts'
import { agentsRoutes } from '../web/dashboard/agents.ts'
import { annotationsRoutes } from '../web/dashboard/annotations.ts'
import { issueFilesRoutes, issueRoutes } from '../web/dashboard/archive/issue.ts'
import { issuesRoutes } from '../web/dashboard/archive/list.ts'
import { leadRoutes } from '../web/dashboard/lead.ts'
import { recordRoutes } from '../web/dashboard/record.ts'
import { statusRoutes } from '../web/dashboard/status/page.ts'
import { healthRoutes, openMetrics } from '../web/monitoring.ts'
import { preferenceRoutes } from '../web/preferences.ts'
import { assetRoutes, createErrorPages, openDashboardPages } from '../web/server/frame.ts'
import { createAllowedHosts } from '../web/server/headers.ts'
import { type AddRoutes, openWeb, type WebServer } from '../web/server/server.ts'
import { mailWebhookRoutes, type ReceiverDeps, webhookRoutes } from '../web/webhooks.ts'
import { providerDepsOf } from './configured-bounces.ts'
import { dkimOf } from './configured-mail.ts'
import { reportOf } from './configured-reports.ts'
import { schedulesOf } from './configured-schedules.ts'
import { profileOf } from './configured-upstream.ts'
import { installationOf } from './health-installation.ts'
import { pathsIn, TEMPLATES } from './installation.ts'

interface ServedDaemon
  extends Pick<StartedDaemon, 'sinceTickMs' | 'wake' | 'signal'>,
    Pick<ActionDeps, 'work' | 'schedules'> {
  readonly intake: WebhookIntake
}

/** Null if the settings switch the web pages off. Throws LeadsheetError web_port. */
export async function openConfiguredWeb(
  config: Config,
  store: Store,
  templates: Templates,
  daemon: ServedDaemon,
  log: Log,
): Promise<WebServer | null> {
  const { listen, publicUrl, allowedHosts, trustedProxies, token } = config.web
  if (listen === null) return null
  const [pages, dashboardPages] = await Promise.all([openWebPages(TEMPLATES), openDashboardPages(TEMPLATES)])
  const now = () => new Date()
  const reports = schedulesOf(config).flatMap(({ report, timing }) =>
    report === null ? [] : [{ ...reportOf(report, config, templates), timing }],
  )
  const desk = openPreferencePage({ store, reports, reader: config, log, now })
  const installation = installationOf(config, store)
  const measure = (at: Date) => readMeasures(installation, at)
  const metrics = openMetrics({ measure, now, version: readVersion() })
  const health = {
    readHealth: () => readHealth(installation, now()),
    sinceTickMs: daemon.sinceTickMs,
    isLocked: () => store.place.kind === 'sqlite' && isWriteLocked(store.place.file),
    log,
  }
  const hosts = createAllowedHosts(publicUrl, allowedHosts)
  const sendErrorPage = createErrorPages(dashboardPages)
  const guard = createSignInGuard({
    hosts,
    sendErrorPage,
    log,
    now,
    remedy: TOKEN_REMEDY,
    ended: endedSessionsIn(store),
    token: token?.reveal() ?? null,
    isOpen: dashboardAccess({ listen, publicUrl, allowedHosts, hasToken: token !== null }) === 'look',
  })
  const receiving = { publicUrl, onOutcome: metrics.countMessage, now, log }
  const shared = {
    store,
    log,
    now,
    timeZone: config.timeZone,
    guard,
    hosts,
    sendErrorPage,
    pages: dashboardPages,
    canAct: guard.signIn !== null,
  }
  const ofOperators = [
    metrics.routes,
    actionRoutes({ ...shared, ...daemon, reports, operators: config.alerts.recipients }),
    statusRoutes({
      ...shared,
      installation,
      version: readVersion(),
      snapshotFile: pathsIn(config.dataDir).snapshot,
    }),
    issuesRoutes(shared),
    issueRoutes(shared),
    issueFilesRoutes({ store, dkim: dkimOf(config.mail) }),
    agentsRoutes(shared),
    leadRoutes(shared),
    recordRoutes(shared),
    annotationsRoutes(shared),
  ]
  return openWeb(
    { ...listen, publicUrl, hosts: allowedHosts, trustedProxies, pages, log, onAnswer: metrics.countAnswer },
    [assetRoutes(dashboardPages), preferenceRoutes(desk, pages), signInRoutes(shared)],
    { guard, parts: ofOperators },
    [
      healthRoutes(health),
      ...receivers(config, receiving, daemon.intake),
      ...mailReceivers(config, receiving, providerDepsOf(config, { ...daemon.work, log }, templates)),
    ],
  )
}

/** Returns the routes that receive webhook events; none if the profile describes no webhooks. */
function receivers(
  config: Config,
  deps: Omit<ReceiverDeps, 'secrets'>,
  intake: WebhookIntake,
): readonly AddRoutes[] {
  const { webhook } = profileOf(config)
  if (webhook === undefined) return []
  if (webhook.verify.scheme === 'none')
    deps.log.warn('webhooks are not verified: whoever knows their address can have leads read anew')
  const file = registrationFile(config.dataDir)
  const secrets = watchSecrets(file, eventSecrets(config.events.secret), ({ message }) =>
    deps.log.error(message),
  )
  return [webhookRoutes({ webhook, intake, secrets, ...deps })]
}

/** Returns the route that receives events of the mail provider; none without its secret. */
function mailReceivers(
  { mail }: Config,
  deps: Omit<ReceiverDeps, 'secrets'>,
  provider: ProviderDeps,
): readonly AddRoutes[] {
  const secret = mail.bounces.webhookSecret?.reveal()
  if (secret === undefined) return []
  const take = (id: string, body: Buffer) => takeProviderEvent(provider, id, body)
  return [mailWebhookRoutes({ ...deps, secrets: () => [secret], take })]
}
