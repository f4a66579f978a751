/** The pages of a daemon whose port another program may have: syncs and reports do not wait for it. */
import { errorText, LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { WebServer } from '../web/server/server.ts'

type Open = () => Promise<WebServer | null>

export interface WaitingPages extends AsyncDisposable {
  /** Null where no pages are served, or none yet. */
  readonly url: string | null
  /** Called each minute: serves the pages as soon as their port is free. */
  tryAgain(): Promise<void>
}

/**
 * @param mayWait whether a port that is taken is waited for
 * @throws LeadsheetError web_port
 */
export async function openPages(open: Open, mayWait: boolean, log: Log): Promise<WaitingPages> {
  let server: WebServer | null = null
  let isWaiting = false
  try {
    server = await open()
  } catch (thrown) {
    if (!mayWait || !isTaken(thrown)) throw thrown
    isWaiting = true
    const code = 'web_port'
    log.error({ code }, `${errorText(thrown)}; syncs and reports go on, and it is tried again each minute`)
  }
  return {
    get url() {
      return server?.url ?? null
    },
    async tryAgain() {
      if (!isWaiting) return
      try {
        server = await open()
        isWaiting = false
        log.info({ listen: server?.url }, 'the pages are served now')
      } catch (thrown) {
        if (!isTaken(thrown)) throw thrown
      }
    },
    [Symbol.asyncDispose]: async () => server?.[Symbol.asyncDispose](),
  }
}

function isTaken(thrown: unknown): boolean {
  return thrown instanceof LeadsheetError && thrown.code === 'web_port' && /EADDRINUSE/.test(thrown.message)
}
