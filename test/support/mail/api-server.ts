/** The APIs of providers on 127.0.0.1, as they are documented: they read a message, and answer. */
import { hash, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import MailComposer from 'nodemailer/lib/mail-composer'
import PostalMime, { type Email } from 'postal-mime'
import type { Tokens } from '../../../src/mail/sending.ts'
import { openHttpServer } from '../network/http-server.ts'

export const SCHEMES = ['graph', 'gmail', 'ses', 'resend'] as const
export type ApiScheme = (typeof SCHEMES)[number]

export interface ApiReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | object
}

/** The act of the server in place of taking a message: an answer, or none. */
export type ApiAct = ApiReply | 'drop' | 'take and drop' | 'take and fail' | 'stall' | 'half'

/** The requests that send a message, and those that change nothing. */
const SENDING: Readonly<Record<ApiScheme, { readonly path: RegExp; readonly type: string }>> = {
  graph: { path: /^\/v1\.0\/users\/[^/]+\/sendMail$/, type: 'text/plain' },
  gmail: {
    path: /^\/upload\/gmail\/v1\/users\/[^/]+\/messages\/send\?uploadType=media$/,
    type: 'message/rfc822',
  },
  ses: { path: /^\/v2\/email\/outbound-emails$/, type: 'application/json' },
  resend: { path: /^\/emails$/, type: 'application/json' },
}

/** Returns the MIME message in a request; Resend makes it itself. */
async function mimeIn(scheme: ApiScheme, body: Buffer): Promise<Buffer> {
  if (scheme === 'gmail') return body
  if (scheme === 'graph') return Buffer.from(body.toString(), 'base64')
  const json = JSON.parse(body.toString())
  if (scheme === 'ses') return Buffer.from(json.Content.Raw.Data, 'base64')
  const attachments = json.attachments.map((file: Record<string, string>) => ({
    filename: file['filename'],
    contentType: file['content_type'],
    content: Buffer.from(file['content'] ?? '', 'base64'),
    ...(file['content_id'] === undefined ? {} : { cid: file['content_id'], contentDisposition: 'inline' }),
  }))
  const { from, to, subject, html, text, headers, reply_to: replyTo } = json
  return new MailComposer({ from, to, subject, html, text, headers, replyTo, attachments }).compile().build()
}

export type ApiMail = Awaited<ReturnType<typeof readApiMail>>

async function readApiMail(scheme: ApiScheme, { headers }: IncomingMessage, content: Buffer) {
  const mail = await PostalMime.parse(await mimeIn(scheme, content))
  const to = mail.to?.[0]?.address ?? ''
  const [id, sha256] = [fieldIn(mail, 'x-leadsheet-id'), hash('sha256', content)]
  return { to, id, mail, headers, sha256, body: content.toString() }
}

const TAKEN: Readonly<Record<ApiScheme, (id: string) => ApiReply>> = {
  graph: () => ({ status: 202 }),
  gmail: (id) => ({ status: 200, body: { id, threadId: id, labelIds: ['SENT'] } }),
  ses: (id) => ({ status: 200, body: { MessageId: id } }),
  resend: (id) => ({ status: 200, body: { id } }),
}

/** Returns an error in the form of an API. */
export function apiFault(
  scheme: ApiScheme,
  status: number,
  code: string,
  message: string,
  headers: ApiReply['headers'] = {},
): ApiReply {
  const body = {
    graph: { error: { code, message, innerError: { 'request-id': 'a1' } } },
    gmail: { error: { code: status, message, errors: [{ domain: 'global', reason: code, message }] } },
    ses: { message },
    resend: { statusCode: status, name: code, message },
  }[scheme]
  return { status, headers: { ...(scheme === 'ses' && { 'x-amzn-errortype': code }), ...headers }, body }
}

const UNAUTHORIZED: Readonly<Record<ApiScheme, readonly [number, string, string]>> = {
  graph: [401, 'InvalidAuthenticationToken', 'Lifetime validation failed, the token is expired.'],
  gmail: [401, 'authError', 'Invalid Credentials'],
  ses: [403, 'UnrecognizedClientException', 'The security token included in the request is invalid.'],
  resend: [401, 'validation_error', 'API key is invalid'],
}

/** The tokens of a client at an API that takes all. */
export const TOKENS: Tokens = {
  current: async () => 'token-4711',
  hasOther: async () => false,
  close: async () => undefined,
}

const DAY_MS = 24 * 3_600_000

export interface ApiWanted {
  /** Tells whether a request has a good login. */
  readonly allows?: (headers: IncomingHttpHeaders) => boolean
  /** The clock by which keys of requests are forgotten after 24 hours. */
  readonly now?: () => number | Promise<number>
  /** Runs before anything is read of a request. */
  readonly onRequest?: (request: IncomingMessage) => void
  /** Decides what happens to a message that has come as a whole, where `acts` says nothing. */
  readonly decide?: (mail: ApiMail) => ApiAct | null
  /** Runs when a message has come, and what becomes of it is decided. */
  readonly onMail?: (mail: ApiMail, act: ApiAct | null, isKnown: boolean) => void
}

export type MailApi = Awaited<ReturnType<typeof startMailApi>>

export async function startMailApi(scheme: ApiScheme, wanted: ApiWanted = {}) {
  const { allows = () => true, now = Date.now, onRequest, decide, onMail } = wanted
  const received: ApiMail[] = []
  const acts: ApiAct[] = []
  const asked: string[] = []
  const known = new Map<string, { readonly at: number; readonly body: string; readonly id: string }>()

  /** Looks a key up as Resend documents it; the others know none. */
  async function takenBefore({ headers, body }: ApiMail, id: string): Promise<ApiReply | null> {
    const key = headers['idempotency-key']
    if (scheme !== 'resend' || typeof key !== 'string') return null
    const at = await now()
    const before = known.get(key)
    if (before === undefined || at - before.at >= DAY_MS) {
      known.set(key, { at, body, id })
      return null
    }
    if (before.body === body) return TAKEN.resend(before.id)
    const message = 'This idempotency key has been used with another request body within the last 24 hours.'
    return apiFault(scheme, 409, 'invalid_idempotent_request', message)
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    asked.push(`${request.method} ${request.url}`)
    onRequest?.(request)
    const body = await buffer(request).catch(() => null)
    // The client has gone.
    if (body === null) return
    if (!allows(request.headers)) return reply(response, apiFault(scheme, ...UNAUTHORIZED[scheme]))
    if (request.method === 'GET') return act(response, acts.shift() ?? { status: 404 })
    const { path, type } = SENDING[scheme]
    const isRight = path.test(request.url ?? '') && request.headers['content-type'] === type
    if (!isRight || request.method !== 'POST') return reply(response, { status: 405 })
    const mail = await readApiMail(scheme, request, body)
    const next = acts.shift() ?? decide?.(mail) ?? null
    if (next !== null && next !== 'take and drop' && next !== 'take and fail') {
      onMail?.(mail, next, false)
      return act(response, next)
    }
    const id = randomUUID()
    const before = await takenBefore(mail, id)
    if (before === null) received.push(mail)
    onMail?.(mail, next, before !== null)
    if (next === 'take and drop') response.destroy()
    else if (next === 'take and fail') reply(response, { status: 502, body: '<html>Bad gateway</html>' })
    else reply(response, before ?? TAKEN[scheme](id))
  }

  const http = await openHttpServer(answer)
  const { host } = new URL(http.url)
  const login = scheme === 'resend' ? ':re_key-4711@' : scheme === 'ses' ? 'AKIDEXAMPLE:secret-4711@' : ''
  return {
    ...http,
    host,
    /** The mail URL. */
    url: `${scheme}://${login}${host}${scheme === 'ses' ? '?region=eu-west-1' : ''}`,
    received,
    /** The acts for the next requests. Each takes the first one. */
    acts,
    asked,
  }
}

function act(response: ServerResponse, what: ApiAct): void {
  if (what === 'drop' || what === 'take and drop' || what === 'take and fail') response.destroy()
  else if (what === 'half')
    response.writeHead(200, { 'content-length': '99' }).write('{"id":', () => response.destroy())
  else if (what !== 'stall') reply(response, what)
}

function reply(response: ServerResponse, { status, headers = {}, body = '' }: ApiReply): void {
  const type = typeof body === 'string' ? 'text/html' : 'application/json'
  response.writeHead(status, { 'content-type': type, ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

export function fieldIn({ headers }: Email, name: string): string {
  return headers.find(({ key }) => key === name)?.value ?? ''
}
