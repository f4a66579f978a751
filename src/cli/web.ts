/** The pages that the daemon serves, as the settings want them. */
import type { Config } from '../config/config.ts'
import { listenAddress } from '../config/web-settings.ts'
import { openSubscriptionDesk } from '../jobs/subscription-desk.ts'
import type { Log } from '../log.ts'
import type { Templates } from '../report/templates.ts'
import { openWebPages } from '../report/web-pages.ts'
import type { Store } from '../store/open.ts'
import { openWeb, type WebServer } from '../web/server.ts'
import { subscriptionRoutes } from '../web/subscription.ts'
import { TEMPLATES } from './installation.ts'
import { reportOf } from './reports.ts'
import { schedulesOf } from './schedules.ts'

/**
 * Null where the settings name no address under which recipients would reach them.
 * @throws LeadsheetError web_port
 */
export async function openConfiguredWeb(
  config: Config,
  store: Store,
  templates: Templates,
  log: Log,
): Promise<WebServer | null> {
  const { listen, publicUrl } = config.web
  if (publicUrl === null) return null
  const pages = await openWebPages(TEMPLATES)
  const reports = schedulesOf(config).flatMap(({ report, timing }) =>
    report === null ? [] : [{ ...reportOf(report, config, templates), timing }],
  )
  const desk = openSubscriptionDesk({ store, reports, reader: config, log, now: () => new Date() })
  return openWeb({ ...listenAddress(listen), publicUrl, pages, log }, [subscriptionRoutes(desk, pages)])
}
