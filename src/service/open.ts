/** The reference service: its database, its simulation up to now, and its API over HTTP. */
import type { AddressInfo, LookupFunction } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { API_PREFIX } from '../contract/api.ts'
import { errorText, LeadsheetError } from '../errors.ts'
import type { Faults } from './faults/rules.ts'
import { createApiKey, createRateLimiter } from './http/authentication.ts'
import type { Context } from './http/endpoint.ts'
import type { ServiceLog } from './http/server.ts'
import { createServer } from './http/server.ts'
import { ENDPOINTS } from './routes/endpoints.ts'
import { DAY_MS, HOUR_MS } from './simulation/calendar.ts'
import { readCompanies } from './simulation/companies.ts'
import type { Simulation } from './simulation/simulation.ts'
import { openSimulation } from './simulation/simulation.ts'
import type { KeyScope } from './store/database.ts'
import { openServiceDatabase } from './store/database.ts'
import { createAddressGuard, createWebhookPoster } from './webhooks/post.ts'
import { createWebhookSender } from './webhooks/sender.ts'

export interface ServiceOptions {
  /** The service's SQLite file. It is created if it does not exist. */
  readonly file: string
  /** The file of the companies that agents can discover, such as data/companies.ndjson. */
  readonly companiesFile: string
  /** The address to listen on; 127.0.0.1 by default. */
  readonly host?: string
  /** The port. The default 0 takes a free port. */
  readonly port?: number
  /** The seed of the random numbers, 1 by default. A history that is already in the file keeps its seed. */
  readonly seed?: number
  /** The number of simulated seconds per real second, 1 by default. */
  readonly speed?: number
  /** From this instant, time runs at `speed` to the present. A later history in the file goes on instead. */
  readonly playFrom?: Date | undefined
  /** Returns the real time in milliseconds since 1970; the system's clock by default. */
  readonly now?: () => number
  /** The length of a new history in days; 120 by default. The history begins at midnight (UTC). */
  readonly historyDays?: number
  /** The maximum number of requests that one key may send in a minute; 1,200 by default. */
  readonly rateLimitPerMinute?: number
  /** The faults to inject, for practice and tests; none by default. */
  readonly faults?: Faults | undefined
  /** True if webhooks may be sent to this machine, also over http. For trials only; false by default. */
  readonly webhooksToLoopback?: boolean
  /** Resolves the names in webhook addresses; the system's resolver by default. */
  readonly resolve?: LookupFunction
  readonly logger?: ServiceLog
  /** `done` and `total` are milliseconds of simulated time. */
  readonly onProgress?: (done: number, total: number) => void
  /** Stops the opening. The history that was simulated so far is kept. */
  readonly signal?: AbortSignal
}

export type Service = Awaited<ReturnType<typeof openService>>

/**
 * @throws LeadsheetError service_data, service_port, job_busy, data_unwritable, store_corrupt, store_newer
 */
export async function openService(options: ServiceOptions) {
  const { speed = 1, seed = 1, historyDays = 120, rateLimitPerMinute = 1200, now = Date.now } = options
  const log = options.logger ?? warnOfErrors
  const companies = readCompanies(options.companiesFile)
  const db = openServiceDatabase(options.file)
  try {
    const simulation = await openSimulation(db, { seed, companies, historyDays, now: now() })
    const playFrom = options.playFrom?.getTime()
    const clock = createClock(now, { speed, notBefore: simulation.until(), playFrom })
    const { onProgress, signal } = options
    await simulation.advance(clock(), { stretchMs: DAY_MS, onProgress, signal })
    signal?.throwIfAborted()
    const simulatedNow = () => Math.max(clock(), simulation.until())
    const { webhooksToLoopback: toLoopback = false, resolve } = options
    const guard = createAddressGuard({ toLoopback, resolve })
    const poster = createWebhookPoster(guard, now)
    const sender = createWebhookSender({ db, poster, now, simulatedNow, log })
    const context: Context = {
      db,
      simulation,
      now: simulatedNow,
      realNow: now,
      webhooks: { ping: sender.ping, refusalOf: guard.refusalOf },
    }
    const limiter = createRateLimiter(rateLimitPerMinute, now)
    const app = createServer({
      context,
      endpoints: ENDPOINTS,
      limiter,
      log,
      faults: options.faults,
    })
    // A request may cause an event or enable a webhook. The sender therefore looks for messages to send.
    app.addHook('onResponse', async ({ method }) => {
      if (method !== 'GET') sender.wake()
    })
    const origin = await listen(app, options.host ?? '127.0.0.1', options.port ?? 0)
    const ticker = startTicker(simulation, clock, log, () => sender.wake())
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
      /** The base URL of the API, which ends in `/api/v1`. */
      url: `${origin}${API_PREFIX}`,
      /** @returns the key, which cannot be shown again */
      createKey: (key: { readonly name: string; readonly scope: KeyScope }): Promise<string> =>
        createApiKey(db, key, now()),
      /** Returns the current simulated time. */
      now: () => new Date(context.now()),
      /** Simulates up to the current simulated time immediately. Otherwise this happens every second. */
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

/** The default log. It prints failures as warnings and leaves out requests. */
const warnOfErrors: ServiceLog = {
  info: () => undefined,
  error: (fields, message) => {
    const cause = 'err' in fields ? `: ${errorText(fields.err)}` : ''
    process.emitWarning(`${message}${cause}`, 'LeadsheetService')
  },
}

/* Continues the simulation as its clock advances, while the service is open. */

const TICK_MS = 1000
/** The maximum simulated time of one step. Such a step blocks the event loop for only a few milliseconds. */
const STRETCH_MS = 2 * HOUR_MS

/** @param onPlayed called after each step, when its changes are in the database */
function startTicker(simulation: Simulation, clock: () => number, log: ServiceLog, onPlayed: () => void) {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let turn = Promise.resolve()

  /** Simulates up to the current simulated time. */
  const catchUp = (): Promise<void> => {
    turn = simulation.advance(clock(), {
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
      // A full disk or a locked file may be temporary. The next tick simulates the unwritten changes again.
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
    /** Stops the simulation. Resolves when its last step has ended. */
    stop: async () => {
      stopping.abort()
      clearTimeout(timer)
      // Steps run one after the other, so only the last step must be waited for. An error of that step is
      // ignored here, because the caller of the step gets the error.
      await turn.catch(() => undefined)
    },
  }
}

interface ClockOptions {
  /** The number of simulated seconds per real second. */
  readonly speed: number
  /** The instant up to which time is already simulated. With a high `speed`, it may be in the future. */
  readonly notBefore: number
  /** If undefined, simulated time begins at the real present. */
  readonly playFrom: number | undefined
}

/**
 * Creates the simulated clock, which starts when the service opens.
 * @param realNow returns the real time in milliseconds since 1970
 * @returns the function that returns the simulated time in milliseconds since 1970
 */
function createClock(realNow: () => number, { speed, notBefore, playFrom }: ClockOptions): () => number {
  const openedAt = realNow()
  const startsAt = Math.max(playFrom ?? openedAt, notBefore)
  const played = () => Math.floor(startsAt + (realNow() - openedAt) * speed)
  if (playFrom === undefined) return played
  return () => Math.min(played(), Math.max(realNow(), startsAt))
}
