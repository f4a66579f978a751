/** Where whoever wants to see single leads finds them: a program that is made for it, on the snapshot. */
import { readSnapshotInfo } from '../../store/snapshot/snapshot.ts'
import type { Clock, Moment } from './moment.ts'

/** Files beside each other: the copy for analysts, and what Datasette shows of it. */
export interface SnapshotFiles {
  readonly snapshot: string
  readonly metadata: string
}

/** What `{{> window-analysts}}` shows. */
export interface AnalystsView {
  readonly file: string
  readonly command: string
  /** When it was made; null where there is none. */
  readonly madeAt: Moment | null
}

export function composeAnalysts({ snapshot, metadata }: SnapshotFiles, clock: Clock): AnalystsView {
  const info = readSnapshotInfo(snapshot)
  return {
    file: snapshot,
    command: `datasette ${quoted(snapshot)} -m ${quoted(metadata)}`,
    madeAt: info && clock.at(info.madeAt),
  }
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
