/** Who asks for a page of the window; the guard notes it with each request that it lets in. */
import type { Session } from './session.ts'
import type { Told } from './told.ts'

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
