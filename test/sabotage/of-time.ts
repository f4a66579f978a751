/** Bugs in times and in the order of work. */
import type { Sabotage } from './sabotage.ts'

export const OF_TIME: readonly Sabotage[] = [
  {
    name: 'what is due is what the tick meets: the tick is the job',
    edits: [
      {
        find: 'scheduledRunsBetween(schedule.timing, new Date(last.due_at), now)',
        replace: 'scheduledRunsBetween(schedule.timing, new Date(now.getTime() - 60_000), now)',
      },
    ],
    caughtBy: [
      {
        title: 'catch_up: %s',
        because: /expected \[\] to deeply equal \[ '20T0/,
      },
      {
        title: 'knows after it %s from when to when nothing ran',
        because: /expected \[\] to deeply equal \[ \{/,
      },
    ],
  },
  {
    name: 'what two processes may not do at once has no lease',
    edits: [
      {
        find: 'if (other && !isLost(trx, other))',
        replace: 'if (other && other.isExpired > 1)',
      },
    ],
    caughtBy: [
      {
        title: 'is held by one, who is named to the other, and free after its release',
        because: /promise resolved .* instead of rejecting/,
      },
      {
        title:
          'of two syncs on the same data one runs and the other is told who does; ${RACES} races (row 45)',
        because: /expected (\+0 not to be \+0|2 to be 1)/,
      },
    ],
  },
  {
    name: 'who has lost a lease goes on',
    edits: [
      {
        find: 'if (numAffectedRows === 0n) throw',
        replace: 'if (numAffectedRows < 0n) throw',
      },
    ],
    caughtBy: [
      {
        title: 'lets no byte of a message leave once another process has taken over',
        because: /instead of rejecting/,
      },
      {
        title: 'a sync that hung until another had taken over writes nothing when it wakes up (row 46)',
        because: /to contain 'job_busy'/,
      },
    ],
  },
  {
    name: 'a time that the clock shows twice is due the second time',
    edits: [
      {
        find: 'Math.min(...real)',
        replace: 'Math.max(...real)',
      },
    ],
    caughtBy: [
      {
        title: 'that the clock shows twice is due the first time: $name',
        because: /to include \d+/,
      },
    ],
  },
  {
    name: 'a time that the clock jumps over is left out',
    edits: [
      {
        find: 'if (isInGap && isLeftOut(Math.floor(shownMs / DAY_MS), timeZone)) continue',
        replace: 'if (isInGap) continue',
      },
    ],
    caughtBy: [
      {
        title: 'that the clock jumps over is due once it has jumped: $name',
        because: /to include \d+/,
      },
    ],
  },
  {
    name: 'a report that is to be held goes out',
    edits: [
      {
        find: "onStaleData === 'send') return null",
        replace: "onStaleData !== 'skip') return null",
      },
    ],
    caughtBy: [
      {
        title: 'is held until they do, where the settings say so',
        because: /to match object \{ state: 'held'/,
      },
      {
        title: 'is held until somebody lets it go, and then says that its data are old',
        because: /to match object \{ state: 'held' \}/,
      },
    ],
  },
  {
    name: 'old data pass for fresh ones',
    edits: [
      {
        find: "  if (coverage === 'part') {\n",
        replace: "  if (coverage === 'part' && leads < 0) {\n",
      },
    ],
    caughtBy: [
      {
        title: 'goes out after that, and says first that its data are old, and then why (row 6)',
        because: /to match object \{ state: 'done', …\(1\) \}/,
      },
    ],
  },
  {
    name: 'what a stop breaks off counts as failed',
    edits: [
      {
        find: "    if (signal.aborted) return { state: 'again', message: errorText(signal.reason), notBefore: null }\n",
        replace: '',
      },
    ],
    caughtBy: [
      {
        title: 'takes up again what a stop has broken off, and says what it has in hand',
        because: /AssertionError/,
      },
    ],
  },
]
