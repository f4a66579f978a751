/** The last editions and their letters: what went out, what waits, what is in doubt, and whether the mail server is there. */
import { counted } from '../../../report/words/numbers.ts'
import type { Db } from '../../../store/db/store.ts'
import {
  countWaiting,
  type DoubtfulLetter,
  listDoubtful,
  listRefused,
} from '../../../store/outbox/delivery-problems.ts'
import { listMailOutages, type MailOutage } from '../../../store/outbox/smtp-circuit.ts'
import { listEditions } from '../../../store/reports/issue-list.ts'
import { type EditionLine, editionHref, editionLine } from '../archive/list.ts'
import type { Clock, Moment } from '../format.ts'

const EDITIONS = 8
const DOUBTFUL_MAX = 20
const WEEK_MS = 7 * 86_400_000

export interface LettersView {
  readonly editions: readonly EditionView[]
  /** `3 letters, the oldest since 06:00`; null where none waits. */
  readonly waiting: { readonly letters: string; readonly since: Moment } | null
  readonly servers: readonly ServerView[]
  /** Of the last week. */
  readonly doubtful: readonly DoubtfulView[]
  readonly refused: readonly { readonly report: string; readonly letters: string; readonly since: Moment }[]
}

interface EditionView extends EditionLine {
  readonly id: string
}

interface ServerView {
  readonly server: string
  readonly trouble: string
  readonly since: Moment
  readonly next: Moment
}

interface DoubtfulView {
  readonly id: string
  readonly recipient: string
  readonly report: string
  /** Null of a notice to operators. */
  readonly href: string | null
  readonly since: Moment
  /** Whether it is sent once more by itself. */
  readonly isTriedAgain: boolean
}

export async function readLetters(db: Db, clock: Clock): Promise<LettersView> {
  const weekAgo = new Date(clock.now.getTime() - WEEK_MS).toISOString()
  const { letters, since } = await countWaiting(db)
  return {
    editions: (await listEditions(db, null, EDITIONS)).map((edition) => ({
      id: edition.id,
      ...editionLine(edition, clock),
    })),
    waiting: since === null ? null : { letters: counted(letters, 'letter'), since: clock.at(since) },
    servers: (await listMailOutages(db)).map((outage) => serverOf(outage, clock)),
    doubtful: (await listDoubtful(db, weekAgo, DOUBTFUL_MAX)).map((letter) => doubtfulOf(letter, clock)),
    refused: (await listRefused(db, weekAgo)).map(({ report, letters: some, since: from }) => ({
      ...{ report: report ?? 'notices', letters: counted(some, 'letter'), since: clock.at(from) },
    })),
  }
}

function serverOf({ server, kind, beganAt, nextAttemptAt }: MailOutage, clock: Clock): ServerView {
  const trouble = kind === 'configuration' ? 'does not let us in' : 'cannot be reached'
  return { server, trouble, since: clock.at(beganAt), next: clock.at(nextAttemptAt) }
}

function doubtfulOf(letter: DoubtfulLetter, clock: Clock): DoubtfulView {
  const { messageId, recipient, report, editionId, stateAt, nextAttemptAt } = letter
  return {
    ...{ id: messageId.replaceAll(/[<>]/g, ''), recipient, report: report ?? 'notice' },
    href: editionId && editionHref(editionId),
    since: clock.at(stateAt),
    isTriedAgain: nextAttemptAt !== null,
  }
}
