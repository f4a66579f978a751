/** The first page of the window: whether all is well. */
import { countLeads } from '../../store/lead.ts'
import { type AddRoutes, sendPage } from '../server.ts'
import { frameOf } from './frame.ts'
import type { WindowDeps } from './window.ts'

export function statusRoutes({ store, pages }: WindowDeps): AddRoutes {
  const page = pages.page<{ readonly sentence: string }>('status')
  return (app) => {
    app.get('/', async (request, reply) => {
      const leads = await countLeads(store.db)
      return sendPage(
        reply,
        page({ sentence: `${leads.toLocaleString('en')} leads` }, frameOf(request, 'Status', '/')),
      )
    })
  }
}
