/** The interface of a real server for a test. */
import { isSkipped } from '../support/process/programs.ts'

export type UpstreamRecord = Readonly<Record<string, unknown>>

export interface RealServer {
  /** The address of its list. */
  readonly url: string
  /** The key; empty if it needs none. */
  readonly key: string
  /** Returns the whole list, read without the client under test. */
  list(): Promise<readonly UpstreamRecord[]>
  idOf(record: UpstreamRecord): string
  /** Adds records through the server's own API. */
  add(count: number): Promise<void>
  remove(ids: readonly string[]): Promise<void>
}

export interface RealServerKind {
  readonly name: string
  /** Returns the command that installs it; null if it is installed. */
  readonly missing: () => string | null
  /** Starts it for the current test, on a free port of 127.0.0.1, with its data in a temporary folder. */
  readonly start: (records: number) => Promise<RealServer>
}

/** For `test.skipIf`. */
export function isMissing({ name, missing }: RealServerKind): boolean {
  return isSkipped(`a sync from ${name}`, missing())
}
