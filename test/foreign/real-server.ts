/** What a test needs of a server that nobody here wrote, whichever it is. */
import { isSkipped } from '../support/process/programs.ts'

export type UpstreamRecord = Readonly<Record<string, unknown>>

export interface RealServer {
  /** Of its list. */
  readonly url: string
  /** Empty where it asks for none. */
  readonly key: string
  /** The whole list as it stands, by a way that the client does not take. */
  list(): Promise<readonly UpstreamRecord[]>
  idOf(record: UpstreamRecord): string
  /** Some records more, by the server's own API. */
  add(count: number): Promise<void>
  remove(ids: readonly string[]): Promise<void>
}

export interface RealServerKind {
  readonly name: string
  /** How to get it, where the machine does not have it; null where it does. */
  readonly missing: () => string | null
  /** For the test that runs: on a free port of 127.0.0.1, its data in a temporary folder. */
  readonly start: (records: number) => Promise<RealServer>
}

/** For `test.skipIf`. */
export function isMissing({ name, missing }: RealServerKind): boolean {
  return isSkipped(`a sync from ${name}`, missing())
}
