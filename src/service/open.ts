/** The reference service: opens its database, plays the history up to now, and serves the API over HTTP. */
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
import { DAY_MS, HOUR_MS } from './simulation/calendar.ts'
import { readCompanies } from './simulation/companies.ts'
import type { Life } from './simulation/life.ts'
import { openLife } from './simulation/life.ts'
import type { ApiKey } from './store/api-key.ts'
import { createApiKey, listApiKeys, revokeApiKey } from './store/api-key.ts'
import { openServiceDatabase } from './store/database.ts'
import type { KeyScope } from './store/tables.ts'
import { createAddressGuard } from './webhooks/address.ts'
import { createWebhookPoster } from './webhooks/post.ts'
import { createWebhookSender } from './webhooks/sender.ts'

export interface ServiceOptions {
  /** The service's SQLite file, created if it does not exist. */
  readonly file: string
  /** The companies that agents can discover, such as data/companies.ndjson. */
  readonly companiesFile: string
  /** The address to listen on; 127.0.0.1 by default. */
  readonly host?: string
  /** The port; 0, the default, takes a free one. */
  readonly port?: number
  /** The seed of a new history, 1 by default. A history in the file keeps its own seed. */
  readonly seed?: number
  /** Simulated seconds per real second, 1 by default. */
  readonly speed?: number
  /**
   * The instant at which simulated time begins, unless the history in the file is past it. The time since is
   * played with `speed` until the real present; from then on simulated time is real time.
   */
  readonly playFrom?: Date | undefined
  /** The real clock. */
  readonly now?: () => number
  /** How many days back a new history starts, at midnight (UTC); 120 by default. */
  readonly historyDays?: number
  /** The rate limit of a key; 1,200 by default. */
  readonly rateLimitPerMinute?: number
  /** The faults to inject, for rehearsals and tests; none by default. */
  readonly faults?: Faults | undefined
  /** Whether webhooks may be sent to this machine, also over http. It is for trials, and off by default. */
  readonly webhooksToLoopback?: boolean
  /** Resolves the names in webhook addresses; the system's resolver by default. */
  readonly resolve?: LookupFunction
  readonly logger?: ServiceLog
  /** Reports the history played while opening, as milliseconds done and in total. */
  readonly onProgress?: (done: number, total: number) => void
  /** Stops the opening. The history played so far is kept. */
  readonly signal?: AbortSignal
  /** Reports, while the service is open, each instant up to which everything can be read. */
  readonly onPlayed?: (until: Date) => void
}

export interface Service extends AsyncDisposable {
  /** The base of the API, which ends in `/api/v1`. */
  readonly url: string
  /** @returns the key, which is shown only this once */
  createKey(key: { readonly name: string; readonly scope: KeyScope }): Promise<string>
  /** The simulated time. */
  now(): Date
  /** Plays up to the simulated present at once. Otherwise this happens every second. */
  catchUp(): Promise<void>
  close(): Promise<void>
}

/**
 * @throws LeadsheetError service_data, service_port, job_busy, data_unwritable, store_corrupt, store_newer
 */
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
    // A request may cause an event, or make a webhook active.
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

/** Warns of failures where no logger is given. Requests are then not logged. */
const warnOfErrors: ServiceLog = {
  info: () => undefined,
  error: (fields, message) => {
    const cause = 'err' in fields ? `: ${errorText(fields.err)}` : ''
    process.emitWarning(`${message}${cause}`, 'LeadsheetService')
  },
}

export type { ApiKey } from './store/api-key.ts'

export interface Keyring extends AsyncDisposable {
  /** @returns the key itself, which is shown only this once */
  create(key: { readonly name: string; readonly scope: KeyScope }): Promise<string>
  list(): Promise<readonly ApiKey[]>
  /** @returns how many keys were revoked, normally 0 or 1 */
  revoke(idOrPrefix: string): Promise<number>
  close(): Promise<void>
}

/**
 * Opens the API keys without a running server. It is safe beside one: the server sees a new or revoked key at
 * the next request.
 * @param file the service's database, created if it does not exist
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

/* Keeps the simulation up with its clock while the service is open. */

const TICK_MS = 1000
/** The length of a stretch, which blocks the event loop for a few milliseconds only. */
const STRETCH_MS = 2 * HOUR_MS

interface Ticker {
  /** Plays up to the clock's present. */
  catchUp(): Promise<void>
  /** Resolves when nothing is being played any more. */
  stop(): Promise<void>
}

/** @param onPlayed called after each stretch, when its changes are in the database */
function startTicker(life: Life, clock: Clock, log: ServiceLog, onPlayed: () => void): Ticker {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let turn = Promise.resolve()

  const catchUp = (): Promise<void> => {
    turn = life.advance(clock.now(), {
      stretchMs: STRETCH_MS,
      onProgress: onPlayed,
      signal: stopping.signal,
    })
    return turn
  }

  const tick = async (): Promise<void> => {
    try {
      await catchUp()
    } catch (error) {
      // A full disk or a locked file may pass. Changes that were not written are played again next time.
      log.error({ err: error }, 'the simulation could not go on')
    }
    wait()
  }
  const wait = (): void => {
    if (stopping.signal.aborted) return
    timer = setTimeout(() => void tick(), TICK_MS)
  }

  wait()
  return {
    catchUp,
    stop: async () => {
      stopping.abort()
      clearTimeout(timer)
      // Because stretches are played one after the other, the last one ends them all. Its error goes to its
      // caller.
      await turn.catch(() => undefined)
    },
  }
}

/** The simulated clock: real time from the moment the service opens, sped up on request. */

export interface Clock {
  /** Milliseconds since 1970 in simulated time. */
  now(): number
}

interface ClockOptions {
  /** Simulated seconds per real second. */
  readonly speed: number
  /** How far time has already been simulated. A fast run may have left it ahead of real time. */
  readonly notBefore: number
  /**
   * A past instant to begin at. The time since is played with `speed`; from the present on it is real time.
   */
  readonly playFrom: number | undefined
}

/** @param realNow the real clock */
function createClock(realNow: () => number, { speed, notBefore, playFrom }: ClockOptions): Clock {
  const openedAt = realNow()
  const startsAt = Math.max(playFrom ?? openedAt, notBefore)
  const played = () => Math.floor(startsAt + (realNow() - openedAt) * speed)
  if (playFrom === undefined) return { now: played }
  return { now: () => Math.min(played(), Math.max(realNow(), startsAt)) }
}
