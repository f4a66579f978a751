/** A page of a list that is fetched before its reader asks for it: what the two ways of reading ahead hold. */
import type { RawPage } from '../source.ts'

/** Fetches the page at a position; throws as `Source.listLeads` does. */
export type FetchPage = (position: string | null) => Promise<RawPage>

export interface StartedPage {
  readonly position: string | null
  /** A failure that nobody waits for is none. */
  readonly page: Promise<RawPage>
  /** For a page that nobody will ask for. */
  readonly dropped: AbortController
}

export type StartPage = (position: string | null) => StartedPage
