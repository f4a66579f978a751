/** A message to operators as data, from which each channel makes its own words. */

export interface NoticeMessage {
  /** Such as `2 troubles: sync failing, mail waiting`. */
  readonly subject: string
  /** Instant. */
  readonly made_at: string
  /** Which of several installations: the machine and its data directory. */
  readonly place: string
  readonly raised: readonly NoticeLine[]
  /** Told before, and still there. */
  readonly reminded: readonly NoticeLine[]
  readonly recovered: readonly NoticeLine[]
  /** How many troubles are open in all. */
  readonly open: number
}

export interface NoticeLine {
  readonly id: number
  /** Such as `sync_failing`. */
  readonly reason: string
  /** The reason in words: `sync failing`. */
  readonly title: string
  /** What it is about; empty where the reason says it. */
  readonly subject: string
  readonly message: string
  readonly hint: string
  /** Instant. */
  readonly since: string
  /** Instant; null where it is open. */
  readonly until: string | null
}

export interface NoticeSection {
  readonly title: string
  readonly lines: readonly NoticeLine[]
  /** How many more there are than those lines. */
  readonly more: number
}

/** The parts of a message that have anything in them, none of them longer than anybody reads. */
export function sectionsOf(message: NoticeMessage, linesMax: number): NoticeSection[] {
  const { raised, reminded, recovered } = message
  const all = [
    { title: raised.length === 1 ? 'New trouble' : 'New troubles', lines: raised },
    { title: 'Still there', lines: reminded },
    { title: 'Over', lines: recovered },
  ]
  return all
    .filter(({ lines }) => lines.length > 0)
    .map(({ title, lines }) => ({
      ...{ title, lines: lines.slice(0, linesMax) },
      more: Math.max(0, lines.length - linesMax),
    }))
}

/** `2026-11-20 07:00 UTC`. */
export function tellTime(instant: string): string {
  return `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC`
}
