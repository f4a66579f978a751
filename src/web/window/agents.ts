/** The agents of the service: how each is now, and how it has been over the last days. */
import { type OverviewKeeper, PERIOD_DAYS } from '../../jobs/overview.ts'
import { daysBefore } from '../../report/period.ts'
import { createVoice } from '../../report/voice.ts'
import { listAgents } from '../../store/sync/agent-list.ts'
import { type AddRoutes, sendPage } from '../server.ts'
import { type AgentsView, composeAgents } from './agents/view.ts'
import { type CountingView, countingOf } from './counting.ts'
import { frameOf } from './frame.ts'
import { clockOf } from './moment.ts'
import { LOCALE } from './numbers.ts'
import type { WindowDeps } from './window.ts'

export interface AgentsDeps extends WindowDeps {
  readonly overview: OverviewKeeper
}

const PATH = '/agents'

export function agentsRoutes({ store, pages, overview, now, timeZone }: AgentsDeps): AddRoutes {
  const page = pages.page<AgentsView & { readonly counting: CountingView }>('agents')
  return (app) => {
    app.get(PATH, async (request, reply) => {
      const { from } = daysBefore(now(), PERIOD_DAYS, timeZone)
      const agents = await listAgents(store.db, from)
      const kept = await overview.read()
      const clock = clockOf(timeZone, now())
      const voice = createVoice(LOCALE, timeZone, clock.now.toISOString())
      const view = {
        ...composeAgents(agents, kept.overview?.agents ?? null, voice, clock),
        counting: countingOf(kept, PATH, clock),
      }
      return sendPage(reply, page(view, frameOf(request, 'Agents', PATH)))
    })
  }
}
