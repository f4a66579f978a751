/** A local page that shows a mail and reloads with its files. Its frame runs no script. */
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { errorText, LeadsheetError } from '../../errors.ts'

export interface PreviewChoice {
  readonly data: 'sample' | 'real'
  readonly recipient: string | null
  /** The BCP 47 tag of the locale, such as `de-DE`; null for the recipient's own locale. */
  readonly locale: string | null
}

export interface Preview {
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly html: string
  readonly text: string
  /** The pictures of the mail, by the `cid` that names them in the HTML. */
  readonly images: ReadonlyMap<string, Uint8Array>
  /** The names of the attached files. */
  readonly attachments: readonly string[]
}

interface PreviewOptions {
  readonly report: string
  /** The port on 127.0.0.1; 0 takes a free port. */
  readonly port: number
  readonly recipients: () => Promise<readonly string[]>
  /** The locales to choose from: BCP 47 tags, each with its name. */
  readonly locales: readonly (readonly [locale: string, name: string])[]
  /** Renders the report. Its errors are mistakes of the author, which the page shows. */
  readonly render: (choice: PreviewChoice) => Promise<Preview>
}

const HOST = '127.0.0.1'
const FILES = new URL('./', import.meta.url)
const ASSETS = { '/': 'page.html', '/page.css': 'page.css', '/page.js': 'page.js' } as const
const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript' } as const
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
// The maximum number of previews kept in memory, so that frames of earlier previews can still load pictures.
const REMEMBERED = 8

/** @throws LeadsheetError usage_invalid if the port is taken */
export async function openPreview(options: PreviewOptions) {
  const { fastify } = await import('fastify')
  const app = fastify({ forceCloseConnections: true })
  const remembered = new Map<string, Preview>()
  const listeners = new Set<FastifyReply>()
  refuseOtherHosts(app)
  serveAssets(app)
  app.get<{ Querystring: Record<string, string> }>('/state', async ({ query }) => {
    // If the recipients cannot be read, rendering fails too, and its error is shown.
    const recipients = await options.recipients().catch(() => [])
    const about = { report: options.report, recipients, locales: options.locales }
    const begun = performance.now()
    try {
      const preview = await options.render(choiceOf(query))
      const id = remember(remembered, preview)
      const { html, images: _, ...shown } = preview
      return {
        ...about,
        ...shown,
        id,
        preheader: preheaderIn(html),
        source: html,
        size: Buffer.byteLength(html),
        ms: Math.round(performance.now() - begun),
      }
    } catch (thrown) {
      return { ...about, mistake: explain(thrown) }
    }
  })
  app.get<{ Params: { id: string; scheme: string } }>('/mail/:id/:scheme', async ({ params }, reply) => {
    const preview = remembered.get(params.id)
    if (preview === undefined) return reply.code(404).send()
    const isDark = params.scheme === 'dark'
    return reply
      .header('Content-Security-Policy', mailPolicy(app))
      .type('text/html; charset=utf-8')
      .send(inFrame(preview.html, params.id, isDark))
  })
  app.get<{ Params: { id: string; cid: string } }>('/image/:id/:cid', async ({ params }, reply) => {
    const image = remembered.get(params.id)?.images.get(params.cid)
    return image === undefined ? reply.code(404).send() : reply.type('image/png').send(Buffer.from(image))
  })
  app.get('/changes', (_, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    reply.raw.write('retry: 500\n\n')
    listeners.add(reply)
    reply.raw.once('close', () => listeners.delete(reply))
  })
  await listen(app, options.port)
  return {
    url: `http://${HOST}:${portOf(app)}/`,
    refresh: () => {
      for (const { raw } of listeners) raw.write('data: changed\n\n')
    },
    [Symbol.asyncDispose]: () => app.close(),
  }
}

/** Another site could point its own host name to this machine and read the page. */
function refuseOtherHosts(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    const isOurs = isIP(request.hostname) !== 0 || request.hostname === 'localhost'
    if (!isOurs) return reply.code(403).type('text/plain').send('This preview is only for this machine.')
  })
  app.addHook('onSend', async (_, reply) => {
    reply.header('X-Content-Type-Options', 'nosniff')
    reply.header('Referrer-Policy', 'no-referrer')
    reply.header('Cache-Control', 'no-store')
  })
}

function serveAssets(app: FastifyInstance): void {
  for (const [path, file] of Object.entries(ASSETS)) {
    const type = TYPES[file.split('.')[1] as keyof typeof TYPES]
    app.get(path, async (_, reply) =>
      reply
        .header('Content-Security-Policy', PAGE_POLICY)
        .type(`${type}; charset=utf-8`)
        .send(await readFile(new URL(file, FILES))),
    )
  }
}

function choiceOf({ data, recipient, locale }: Record<string, string>): PreviewChoice {
  return { data: data === 'real' ? 'real' : 'sample', recipient: recipient || null, locale: locale || null }
}

function remember(remembered: Map<string, Preview>, preview: Preview): string {
  const id = crypto.randomUUID()
  remembered.set(id, preview)
  const [oldest = ''] = remembered.keys()
  if (remembered.size > REMEMBERED) remembered.delete(oldest)
  return id
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" }

/** The hidden text after the subject in lists of mails, without the invisible filler that follows it. */
function preheaderIn(html: string): string {
  const [, hidden = ''] = /<body[^>]*>\s*<div style="display: ?none[^>]*>([^<]*)/.exec(html) ?? []
  return hidden
    .replaceAll(/&(\w+|#x27);/g, (_, name: string) => ENTITIES[name] ?? ' ')
    .replaceAll(/[\u034f\u200c\s]+/g, ' ')
    .trim()
}

function explain(thrown: unknown): { readonly message: string; readonly hint: string } {
  const message = errorText(thrown)
  if (thrown instanceof LeadsheetError) return { message, hint: thrown.hint ?? '' }
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : ''
  return { message: `This is a bug in leadsheet: ${message}`, hint: stack }
}

/** The host is written out, because `'self'` matches nothing in a sandboxed frame. */
function mailPolicy(app: FastifyInstance): string {
  return `default-src 'none'; style-src 'unsafe-inline'; img-src http://${HOST}:${portOf(app)} http://localhost:${portOf(app)}; sandbox`
}

/** Replaces `cid:` links by addresses that the frame can load, and chooses the light or the dark colours. */
function inFrame(html: string, id: string, isDark: boolean): string {
  return html
    .replaceAll(/\bcid:([^"'\s)]+)/g, (_, cid: string) => `/image/${id}/${encodeURIComponent(cid)}`)
    .replaceAll('(prefers-color-scheme: dark)', isDark ? '(min-width: 0)' : '(max-width: 0)')
}

async function listen(app: FastifyInstance, port: number): Promise<void> {
  await app.listen({ host: HOST, port }).catch((cause: unknown) => {
    throw new LeadsheetError(
      'usage_invalid',
      `The preview cannot listen on port ${port}: ${errorText(cause)}`,
      {
        hint: 'Choose another --port; 0 takes a free one.',
        cause,
      },
    )
  })
}

function portOf(app: FastifyInstance): number {
  const address = app.server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}
