/** What became of something that was done: told with the next page of its session, and then no more. */

export interface Session {
  readonly id: string
  /** What forms of its pages bring along, since no other page knows it. */
  readonly formToken: string
}

export interface Told {
  readonly text: string
  readonly isWrong: boolean
}

export interface ToldOnce {
  /** @param path of the page that tells it */
  put(sessionId: string, path: string, told: Told): void
  /** Null where that page has nothing to tell. */
  take(sessionId: string, path: string): Told | null
}

/** Of sessions that never looked again the oldest are forgotten. */
const KEPT = 100

export function createTold(): ToldOnce {
  const waiting = new Map<string, { readonly path: string; readonly told: Told }>()
  return {
    put: (sessionId, path, told) => {
      waiting.delete(sessionId)
      waiting.set(sessionId, { path, told })
      const [oldest] = waiting.keys()
      if (waiting.size > KEPT && oldest !== undefined) waiting.delete(oldest)
    },
    take: (sessionId, path) => {
      const found = waiting.get(sessionId)
      if (found?.path !== path) return null
      waiting.delete(sessionId)
      return found.told
    },
  }
}

/* Who asks for a page of the dashboard; the guard notes it with each request that it lets in. */

export interface Visitor {
  /** Null of a machine, and of who may only look. */
  readonly session: Session | null
  /** Whether they know the token. */
  readonly mayAct: boolean
  /** What became of what they did; told with one page. */
  readonly told: Told | null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on pages that are open to everybody. */
    visitor: Visitor | null
  }
}
