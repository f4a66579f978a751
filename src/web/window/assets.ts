/** What the pages of the window load beside themselves; nothing of it is secret, so that the sign-in page has it too. */
import { readFile } from 'node:fs/promises'
import type { AddRoutes } from '../server.ts'
import type { WindowPages } from './pages.ts'

const FILES = [
  ['/live.js', 'text/javascript; charset=utf-8', new URL('browser/live.js', import.meta.url)],
  ['/icon.svg', 'image/svg+xml', new URL('icon.svg', import.meta.url)],
] as const

export function assetRoutes({ stylesheet }: WindowPages): AddRoutes {
  return (app) => {
    app.get('/window.css', (_, reply) => reply.type('text/css; charset=utf-8').send(stylesheet))
    for (const [path, type, file] of FILES) {
      app.get(path, async (_, reply) => reply.type(type).send(await readFile(file)))
    }
  }
}
