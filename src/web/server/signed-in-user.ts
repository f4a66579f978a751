/** The user of a request to the dashboard, and the flash messages that wait for a session. */

export interface Session {
  readonly id: string
  /** The secret of the CSRF tokens in the session's forms. */
  readonly csrfSecret: string
}

export interface SignedInUser {
  /** The session of the user; null for machines, and for people who may only look. */
  readonly session: Session | null
  /** The CSRF token for the forms of this page; null without a session. */
  readonly formToken: string | null
  /** Tells whether the user knows the token. */
  readonly mayAct: boolean
  /** The result of the last action, shown once. */
  readonly flash: Flash | null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The user of the request; null on public pages. */
    user: SignedInUser | null
  }
}

export interface Flash {
  readonly text: string
  readonly isWrong: boolean
}

/** Keeps the result of an action until the same session requests the page that shows the result. */
export interface FlashStore {
  /** @param path the path of the page that shows the message */
  put(sessionId: string, path: string, flash: Flash): void
  /** Returns null if the page has no message to show. */
  take(sessionId: string, path: string): Flash | null
}

// How many flash messages are kept. Beyond this number the oldest message is dropped, because its session has
// probably never come back.
const SESSIONS_MAX = 100

export function createFlashStore(): FlashStore {
  const waiting = new Map<string, { readonly path: string; readonly flash: Flash }>()
  return {
    put: (sessionId, path, flash) => {
      waiting.delete(sessionId)
      waiting.set(sessionId, { path, flash })
      const [oldest] = waiting.keys()
      if (waiting.size > SESSIONS_MAX && oldest !== undefined) waiting.delete(oldest)
    },
    take: (sessionId, path) => {
      const found = waiting.get(sessionId)
      if (found?.path !== path) return null
      waiting.delete(sessionId)
      return found.flash
    },
  }
}
