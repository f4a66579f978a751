/**
 * The bugs that the tests have to notice, each made by changing a few words of the program in a copy of it. They
 * are what would break a promise most quietly: the program goes on, and only a crash, a lost answer or a strange
 * record tells the difference.
 */
import type { NamedTest } from '../support/named-test.ts'
import type { Edit } from './project-copy.ts'

export interface Sabotage {
  readonly name: string
  readonly edits: readonly Edit[]
  /** Each of them must fail, and by the bug: what it says matches `because`. */
  readonly caughtBy: readonly (NamedTest & { readonly because: RegExp })[]
}

export const SABOTAGES: readonly Sabotage[] = [
  {
    name: 'the cursor is committed before its rows',
    edits: [
      {
        file: 'src/jobs/sync-page.ts',
        find: '  const done = await writePageHolding(run, async (trx) => {',
        replace: `  await writePageHolding(run, (trx) =>
    trx.updateTable('sync_scan').set({ cursor: step.cursor }).execute(),
  )
  const done = await writePageHolding(run, async (trx) => {`,
      },
    ],
    caughtBy: [
      {
        file: 'test/jobs/sync.test.ts',
        title: 'leaves its place before a page that cannot be stored, and reads that page again',
        because: /to match object \{ outcome: 'ok', complete: true/,
      },
      {
        file: 'test/crash/power.test.ts',
        title:
          'a power cut leaves whole pages and the place to go on from, wherever it cuts the log; ${CASES} cuts, SEED=${SEED} (row 39)',
        because: /AssertionError: expected '2026.*' to be '2026/,
      },
    ],
  },
  {
    name: 'a letter is noted as sent before it is',
    edits: [
      {
        file: 'src/jobs/deliver.ts',
        find: "await move(['sending'], { state: 'data' })",
        replace: "await move(['sending'], { state: 'sent', nextAttemptAt: null })",
      },
    ],
    caughtBy: [
      {
        file: 'test/jobs/deliver.test.ts',
        title:
          'is in doubt when the answer to the message is lost, and sends once more under the same Message-ID',
        because: /expected \[ \[ 'ana@example.com', 'sent', 1 \] \] to deeply equal/,
      },
      {
        file: 'test/jobs/deliver.test.ts',
        title: 'has the state on disk before the first byte of the message leaves',
        because: /to deeply equal \[ \+0/,
      },
      {
        file: 'test/crash/outbox.test.ts',
        title:
          'all arrive or are known to be in doubt, more than once only where they were in doubt, and byte for byte the same (row 60)',
        because: /expected \[ \{.*\} \] to deeply equal \[\]/,
      },
    ],
  },
  {
    name: 'a letter whose sender was killed as it left is taken for unsent',
    edits: [
      {
        file: 'src/store/delivery.ts',
        find: "await left.where('state', '=', 'sending')",
        replace: "await left.where('state', 'in', ['sending', 'data'])",
      },
    ],
    caughtBy: [
      {
        file: 'test/jobs/delivery-failures.test.ts',
        title: 'is left to a person at once where the settings say so, also after a crash',
        because: /expected 2 to be 1/,
      },
    ],
  },
  {
    name: 'what is due is what the tick meets: the tick is the job',
    edits: [
      {
        file: 'src/jobs/note-slots.ts',
        find: 'slotsBetween(schedule.timing, new Date(last.slot), now)',
        replace: 'slotsBetween(schedule.timing, new Date(now.getTime() - 60_000), now)',
      },
    ],
    caughtBy: [
      {
        file: 'test/jobs/schedule.test.ts',
        title: 'runs a slot late when nothing ran at its time',
        because: /expected \[\] to deeply equal \[ '2026-11-20T07/,
      },
      {
        file: 'test/jobs/schedule.test.ts',
        title: 'runs only the latest of several missed slots, and shows the others',
        because: /expected \[\] to deeply equal \[ '2026-11-23T07/,
      },
    ],
  },
  {
    name: 'a request has no deadline',
    edits: [
      {
        file: 'src/source/client.ts',
        find: 'const deadline = AbortSignal.timeout(deadlines.attemptMs)',
        replace: 'const deadline = new AbortController().signal',
      },
    ],
    caughtBy: [
      {
        file: 'test/faults/silence.test.ts',
        title: 'over a body, byte by byte, is cut off at the deadline (row 11)',
        because: /TimeoutError.* to match object \{ code: 'api_unreachable'/,
      },
    ],
  },
  {
    name: 'what is unpacked has no limit',
    edits: [
      {
        file: 'src/source/body.ts',
        find: 'unzip(bytes, { maxOutputLength: BODY_BYTES_MAX })',
        replace: 'unzip(bytes)',
      },
    ],
    caughtBy: [
      {
        file: 'test/faults/size.test.ts',
        title: 'by gzip that unpacks to 300 MiB is cut at the limit, with little memory and time (row 15)',
        because: /to contain 'unpacks to more than 64 MiB'/,
      },
    ],
  },
  {
    name: 'a list by offset is believed without looking again',
    edits: [
      {
        file: 'src/jobs/judge-scan.ts',
        find: "  if (scan.mode === 'full' && isShort(scan)) return { next: 'again' }",
        replace: '  if (scan.pass === 1) return COMPLETE',
      },
    ],
    caughtBy: [
      {
        file: 'test/jobs/shifting.test.ts',
        title: 'are all met in ${SEEDS} runs, where going on by offset alone misses some (SEED=${SEED})',
        because: /AssertionError: SEED=\d+: expected \[/,
      },
    ],
  },
  {
    // The service's answers to POST: the receiver of webhooks will have a store of its own.
    name: 'a request that comes twice is carried out twice',
    edits: [
      {
        file: 'src/service/http/idempotency.ts',
        find: 'if (name === undefined) return',
        replace: 'if (name !== null) return',
      },
    ],
    caughtBy: [
      {
        file: 'test/service/pipelines.test.ts',
        title: 'lets the same request be sent again without a second pipeline',
        because: /expected undefined to be 'true'/,
      },
      {
        file: 'test/service/pipelines.test.ts',
        title: 'makes one pipeline of ten requests at the same time',
        because: /expected 10 to be 1/,
      },
    ],
  },
  {
    name: 'a name of a lead stands unescaped in a mail',
    edits: [
      {
        file: 'templates/layout/lead.html.hbs',
        find: '{{company}}</a>',
        replace: '{{{company}}}</a>',
      },
    ],
    caughtBy: [
      {
        file: 'test/report/templates.test.ts',
        title: '$file lets nothing through unescaped',
        because: /expected '.*' not to match/,
      },
      {
        file: 'test/look/hostile.test.ts',
        title: 'builds and runs nothing from $shown',
        because: /to deeply equal \[/,
      },
    ],
  },
  {
    name: 'a text may be a formula of a spreadsheet',
    edits: [
      {
        file: 'src/jobs/export/spreadsheet-text.ts',
        find: "return FORMULA_START.test(text) ? `'${text}` : text",
        replace: 'return FORMULA_START.test(text) ? text : text',
      },
    ],
    caughtBy: [
      {
        file: 'test/jobs/export.test.ts',
        title: 'makes no formula of a text, whatever sign it begins with',
        because: /to deeply equal \[ '\\'=cmd'/,
      },
      {
        file: 'test/jobs/hostile-files.test.ts',
        title: 'are text in every cell of a CSV, a row for each (row 62)',
        because: /to deeply equal \[\]/,
      },
    ],
  },
  {
    name: 'what two processes may not do at once has no lease',
    edits: [
      {
        file: 'src/store/lease.ts',
        find: 'if (other && !isGone(other, at))',
        replace: 'if (other && Number.isNaN(at))',
      },
    ],
    caughtBy: [
      {
        file: 'test/store/lease.test.ts',
        title: 'is held by one, who is named to the other, and free after its release',
        because: /promise resolved .* instead of rejecting/,
      },
      {
        file: 'test/crash/two-instances.test.ts',
        title:
          'of two syncs on the same data one runs and the other is told who does; ${RACES} races (row 45)',
        because: /expected \+0 not to be \+0/,
      },
    ],
  },
  {
    name: 'a snapshot is made in the place of the one before',
    edits: [
      {
        file: 'src/store/snapshot.ts',
        find: 'const unfinished = `${file}.tmp-${process.pid}`',
        replace: 'const unfinished = file',
      },
      {
        file: 'src/store/snapshot.ts',
        find: 'await removeLeftovers(file)',
        replace: 'await rm(file, { force: true })',
      },
    ],
    caughtBy: [
      {
        file: 'test/crash/snapshot.test.ts',
        title:
          'a reader goes on reading the moment that it opened while ${REPLACEMENTS} snapshots take its place (row 42)',
        because: /SqliteError: unable to open database file|AssertionError/,
      },
      {
        file: 'test/crash/snapshot.test.ts',
        title: 'a snapshot for which the disk has no room leaves the one before; needs prlimit',
        because: /SqliteError: unable to open database file|AssertionError/,
      },
    ],
  },
  {
    name: 'secrets are not taken out of what is said',
    edits: [
      {
        file: 'src/log.ts',
        find: "return (text) => longestFirst.reduce((kept, form) => kept.replaceAll(form, '[redacted]'), text)",
        replace: 'return (text) => longestFirst.reduce((kept, form) => kept.replaceAll(form, form), text)',
      },
    ],
    caughtBy: [
      {
        file: 'test/cli/run.test.ts',
        title: 'never writes the key into its log',
        because: /to contain '\[redacted\]'/,
      },
      {
        file: 'test/source/client.test.ts',
        title: 'is taken out of what an upstream says of it',
        because: /to match object \{ message: StringContaining/,
      },
    ],
  },
]
