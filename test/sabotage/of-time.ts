/** Bugs in when things happen, and in who may do them. */
import type { Sabotage } from './sabotage.ts'

export const OF_TIME: readonly Sabotage[] = [
  {
    name: 'what is due is what the tick meets: the tick is the job',
    edits: [
      {
        file: 'src/jobs/schedule/enqueue-due-runs.ts',
        find: 'scheduledRunsBetween(schedule.timing, new Date(last.due_at), now)',
        replace: 'scheduledRunsBetween(schedule.timing, new Date(now.getTime() - 60_000), now)',
      },
    ],
    caughtBy: [
      {
        file: 'test/jobs/schedule/catch-up.test.ts',
        title: 'catch_up: %s',
        because: /expected \[\] to deeply equal \[ '20T0/,
      },
      {
        file: 'test/jobs/daemon.test.ts',
        title: 'knows after it %s from when to when nothing ran',
        because: /expected \[\] to deeply equal \[ \{/,
      },
    ],
  },
  {
    name: 'what two processes may not do at once has no lease',
    edits: [
      {
        file: 'src/store/schedule/lease.ts',
        find: 'if (other && !isGone(trx, other))',
        replace: 'if (other && other.isExpired > 1)',
      },
    ],
    caughtBy: [
      {
        file: 'test/store/schedule/lease.test.ts',
        title: 'is held by one, who is named to the other, and free after its release',
        because: /promise resolved .* instead of rejecting/,
      },
      {
        file: 'test/crash/two-instances.test.ts',
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
        file: 'src/store/schedule/lease.ts',
        find: 'if (renewed.numUpdatedRows === 0n) throw',
        replace: 'if (renewed.numUpdatedRows < 0n) throw',
      },
    ],
    caughtBy: [
      {
        file: 'test/jobs/outbox/send-due.test.ts',
        title: 'lets no byte of a message leave once another process has taken over',
        because: /instead of rejecting/,
      },
      {
        file: 'test/crash/two-instances.test.ts',
        title: 'a sync that hung until another had taken over writes nothing when it wakes up (row 46)',
        because: /to contain 'job_busy'/,
      },
    ],
  },
  {
    name: 'a time that the clock shows twice is due the second time',
    edits: [
      {
        file: 'src/schedule/zone.ts',
        find: 'Math.min(...real)',
        replace: 'Math.max(...real)',
      },
    ],
    caughtBy: [
      {
        file: 'test/schedule/scheduled-runs.test.ts',
        title: 'that the clock shows twice is due the first time: $name',
        because: /to include \d+/,
      },
    ],
  },
  {
    name: 'a time that the clock jumps over is left out',
    edits: [
      {
        file: 'src/schedule/scheduled-runs.ts',
        find: 'if (isInGap && isLeftOut(Math.floor(shownMs / DAY_MS), timeZone)) continue',
        replace: 'if (isInGap) continue',
      },
    ],
    caughtBy: [
      {
        file: 'test/schedule/scheduled-runs.test.ts',
        title: 'that the clock jumps over is due once it has jumped: $name',
        because: /to include \d+/,
      },
    ],
  },
  {
    name: 'a report that is to be held goes out',
    edits: [
      {
        file: 'src/jobs/reports/freshness-gate.ts',
        find: '{ ifStale, ifUnusual } = report.gate',
        replace: "{ ifStale, ifUnusual } = { ...report.gate, ifStale: 'send_with_banner' }",
      },
    ],
    caughtBy: [
      {
        file: 'test/jobs/reports/freshness-gate.test.ts',
        title: 'is held until they do, where the settings say so',
        because: /to match object \{ state: 'held'/,
      },
      {
        file: 'test/jobs/reports/freshness-gate.test.ts',
        title: 'is held until somebody lets it go, and then says that its data are old',
        because: /to match object \{ state: 'held' \}/,
      },
    ],
  },
  {
    name: 'old data pass for fresh ones',
    edits: [
      {
        file: 'src/report/warnings-banner.ts',
        find: '    ...tellAge(figures, locale, context),\n',
        replace: '',
      },
    ],
    caughtBy: [
      {
        file: 'test/jobs/reports/freshness-gate.test.ts',
        title: 'goes out after that with a banner that says what is old and why (row 6)',
        because: /to match \/\^PLEASE NOTE/,
      },
    ],
  },
  {
    name: 'what a stop breaks off counts as failed',
    edits: [
      {
        file: 'src/jobs/schedule/run-scheduled.ts',
        find: "    if (signal.aborted) return { state: 'again', message: errorText(signal.reason), notBefore: null }\n",
        replace: '',
      },
    ],
    caughtBy: [
      {
        file: 'test/jobs/daemon.test.ts',
        title: 'takes up again what a stop has broken off, and says what it has in hand',
        because: /AssertionError/,
      },
    ],
  },
]
