/** The reference service: opens its store, plays the history up to now, and serves the API over HTTP. */
import type { AddressInfo, LookupFunction } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { API_PREFIX } from '../contract/paths.ts'
import { errorText, LeadsheetError } from '../errors.ts'
import type { Faults } from './faults/rules.ts'
import { createRateLimiter } from './http/authentication.ts'
import type { Context } from './http/endpoint.ts'
import type { ServiceLog } from './http/server.ts'
import { createServer } from './http/server.ts'
import { ENDPOINTS } from './routes/endpoints.ts'
import { DAY_MS } from './simulation/calendar.ts'
import { readCompanies } from './simulation/companies.ts'
import { openLife } from './simulation/life.ts'
import type { ApiKey } from './store/api-key.ts'
import { createApiKey, listApiKeys, revokeApiKey } from './store/api-key.ts'
import { openServiceDatabase } from './store/database.ts'
import type { KeyScope } from './store/tables.ts'
import { createClock, startTicker } from './ticker.ts'
import { createAddressGuard } from './webhooks/address.ts'
import { createWebhookPoster } from './webhooks/post.ts'
import { createWebhookSender } from './webhooks/sender.ts'

export interface ServiceOptions {
  /** The service's SQLite file; made if it is not there. */
  readonly file: string
  /** The companies that agents can discover, such as data/companies.ndjson. */
  readonly companiesFile: string
  /** 127.0.0.1 unless told otherwise. */
  readonly host?: string
  /** 0, the default, takes a free one. */
  readonly port?: number
  /** What a new history follows from, 1 by default; a history in the file keeps its own. */
  readonly seed?: number
  /** Simulated seconds per real second, 1 by default. */
  readonly speed?: number
  /**
   * An instant at which simulated time begins, where the history in the file is not past it: what has been since is
   * played with `speed`, never beyond the real present, and from then on it is real time.
   */
  readonly playFrom?: Date | undefined
  /** The real clock. */
  readonly now?: () => number
  /** How far back a new history starts, 120 by default; it then begins at midnight (UTC). */
  readonly historyDays?: number
  /** 1,200 by default. */
  readonly rateLimitPerMinute?: number
  /** Faults to have, for rehearsals and tests; none by default. */
  readonly faults?: Faults | undefined
  /** Whether webhooks may be sent to this machine, over http too: for trying them out. Not by default. */
  readonly webhooksToLoopback?: boolean
  /** What names of webhooks' addresses lead to; the system's resolver by default. */
  readonly resolve?: LookupFunction
  readonly logger?: ServiceLog
  /** Milliseconds of history played so far while opening, and in all. */
  readonly onProgress?: (done: number, total: number) => void
  /** Ends the opening: the history is kept as far as it has been played. */
  readonly signal?: AbortSignal
  /** Called while it is open, whenever all that has happened until an instant of its own can be read. */
  readonly onPlayed?: (until: Date) => void
}

export interface Service extends AsyncDisposable {
  /** The base of the API, which ends in `/api/v1`. */
  readonly url: string
  /** @returns the key, shown this once */
  createKey(key: { readonly name: string; readonly scope: KeyScope }): Promise<string>
  /** Simulated time. */
  now(): Date
  /** Plays up to the simulated present at once, which otherwise happens every second. */
  catchUp(): Promise<void>
  close(): Promise<void>
}

/** @throws LeadsheetError service_data, service_port, job_busy, data_unwritable, store_corrupt, store_newer */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { speed = 1, seed = 1, historyDays = 120, rateLimitPerMinute = 1200, now = Date.now } = options
  const log = options.logger ?? warnOfErrors
  const companies = readCompanies(options.companiesFile)
  const db = await openServiceDatabase(options.file)
  try {
    const life = await openLife(db, { seed, companies, historyDays, now: now() })
    const playFrom = options.playFrom?.getTime()
    const clock = createClock(now, { speed, notBefore: life.until(), playFrom })
    const { onProgress, signal } = options
    await life.advance(clock.now(), { stretchMs: DAY_MS, onProgress, signal })
    signal?.throwIfAborted()
    const simulatedNow = () => Math.max(clock.now(), life.until())
    const { webhooksToLoopback: toLoopback = false, resolve } = options
    const guard = createAddressGuard({ toLoopback, resolve })
    const poster = createWebhookPoster(guard, now)
    const sender = createWebhookSender({ db, poster, now, simulatedNow, log })
    const context: Context = {
      db,
      life,
      now: simulatedNow,
      realNow: now,
      webhooks: { ping: sender.ping, checkAddress: guard.check },
    }
    const limiter = createRateLimiter(rateLimitPerMinute, now)
    const app = createServer({
      context,
      endpoints: ENDPOINTS,
      limiter,
      log,
      faults: options.faults,
    })
    // A request may be an event, or make a webhook active.
    app.addHook('onResponse', async ({ method }) => {
      if (method !== 'GET') sender.wake()
    })
    const origin = await listen(app, options.host ?? '127.0.0.1', options.port ?? 0)
    const ticker = startTicker(life, clock, log, () => {
      options.onPlayed?.(new Date(life.until()))
      sender.wake()
    })
    sender.wake()
    const closeAll = async (): Promise<void> => {
      await ticker.stop()
      await sender.stop()
      await app.close()
      await db.destroy()
    }
    let closed: Promise<void> | undefined
    const close = (): Promise<void> => {
      closed ??= closeAll()
      return closed
    }
    return {
      url: `${origin}${API_PREFIX}`,
      createKey: (key) => createApiKey(db, key, now()),
      now: () => new Date(context.now()),
      catchUp: ticker.catchUp,
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await db.destroy()
    throw error
  }
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    await app.close()
    throw new LeadsheetError(
      'service_port',
      `The service cannot listen on ${host}:${port}: ${reasonOf(error)}.`,
      {
        hint: 'Choose another port, or 0 for any that is free.',
        cause: error,
      },
    )
  }
  const { address, family, port: taken } = app.server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return 'another program has it'
  return code === 'EACCES' ? 'this account may not use it' : errorText(error)
}

/** Without a logger, requests go unnoted but failures do not. */
const warnOfErrors: ServiceLog = {
  info: () => undefined,
  error: (fields, message) => {
    const cause = 'err' in fields ? `: ${errorText(fields.err)}` : ''
    process.emitWarning(`${message}${cause}`, 'LeadsheetService')
  },
}

/* Key management without a running server. Safe beside one: it sees a new or revoked key at its next request. */

export type { ApiKey } from './store/api-key.ts'

export interface Keyring extends AsyncDisposable {
  /** @returns the key itself, shown this once */
  create(key: { readonly name: string; readonly scope: KeyScope }): Promise<string>
  list(): Promise<readonly ApiKey[]>
  /** @returns how many keys this has revoked, 0 or 1 as a rule */
  revoke(idOrPrefix: string): Promise<number>
  close(): Promise<void>
}

/**
 * @param file the service's database; made if it is not there
 * @throws LeadsheetError data_unwritable, store_corrupt, store_newer
 */
export async function openKeyring(file: string, now: () => number = Date.now): Promise<Keyring> {
  const db = await openServiceDatabase(file)
  const close = (): Promise<void> => db.destroy()
  return {
    create: (key) => createApiKey(db, key, now()),
    list: () => listApiKeys(db),
    revoke: (idOrPrefix) => revokeApiKey(db, idOrPrefix, now()),
    close,
    [Symbol.asyncDispose]: close,
  }
}
