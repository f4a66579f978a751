/** The first page of the window: whether all is well, and what there is to see of it; it follows by itself. */
import type { Log } from '../../log.ts'
import { readChangeStamp } from '../../store/db/dialect.ts'
import { type AddRoutes, sendPage } from '../server.ts'
import { frameOf } from './frame.ts'
import { liveRoutes } from './live.ts'
import { clockOf } from './moment.ts'
import { PARTS, readStatusView, type StatusOptions, type StatusView } from './status/view.ts'
import type { WindowDeps } from './window.ts'

export interface StatusDeps extends WindowDeps, StatusOptions {
  readonly log: Log
}

export function statusRoutes(deps: StatusDeps): AddRoutes {
  const { pages, store, now, timeZone, log } = deps
  const page = pages.page<StatusView>('status')
  const parts = PARTS.map((name) => ({ name, render: pages.part<object>(`status-${name}`) }))
  const live = liveRoutes(
    {
      readStamp: () => readChangeStamp(store.db),
      async renderParts() {
        const view = await readStatusView(deps, now())
        return new Map(
          parts.flatMap(({ name, render }) => {
            const part = view[name]
            return part === null ? [] : [[`part-${name}`, render(part)] as const]
          }),
        )
      },
      tellTime: () => clockOf(timeZone, now()).at(now().toISOString()).text,
    },
    log,
  )
  return (app) => {
    app.get('/', async (request, reply) =>
      sendPage(reply, page(await readStatusView(deps, now()), frameOf(request, 'Status', '/'))),
    )
    live(app)
  }
}
