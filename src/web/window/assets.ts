/** What the pages of the window load beside themselves; nothing of it is secret, so that the sign-in page has it too. */
import type { AddRoutes } from '../server.ts'
import type { WindowPages } from './pages.ts'

export function assetRoutes({ stylesheet }: WindowPages): AddRoutes {
  return (app) => {
    app.get('/window.css', (_, reply) => reply.type('text/css; charset=utf-8').send(stylesheet))
  }
}
