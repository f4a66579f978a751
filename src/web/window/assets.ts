/** What the pages of the window load beside themselves; nothing of it is secret, so that the sign-in page has it too. */
import { readFileSync } from 'node:fs'
import type { AddRoutes } from '../server.ts'
import type { WindowPages } from './pages.ts'

const FILES = [
  ['/live.js', 'text/javascript; charset=utf-8', new URL('browser/live.js', import.meta.url)],
  ['/icon.svg', 'image/svg+xml', new URL('icon.svg', import.meta.url)],
] as const

/** The files are read now: an upgrade may take them away while the daemon runs. */
export function assetRoutes({ stylesheet }: WindowPages): AddRoutes {
  const files = FILES.map(([path, type, file]) => ({ path, type, content: readFileSync(file) }))
  return (app) => {
    app.get('/window.css', (_, reply) => reply.type('text/css; charset=utf-8').send(stylesheet))
    for (const { path, type, content } of files) app.get(path, (_, reply) => reply.type(type).send(content))
  }
}
