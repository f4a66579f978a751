/** Bugs in reading and writing data, which a crash, a strange upstream or a strange record would show. */
import type { Sabotage } from './sabotage.ts'

export const OF_DATA: readonly Sabotage[] = [
  {
    name: 'the cursor is committed before its rows',
    edits: [
      {
        find: '  const { scan, pages } = await run.writeSoon((trx) => {',
        replace: `  await run.store.write((trx) => trx.updateTable('sync_scan').set({ cursor: read.cursor }).execute())
  const { scan, pages } = await run.writeSoon((trx) => {`,
      },
    ],
    caughtBy: [
      {
        title: 'leaves its place before a page that cannot be stored, and reads that page again',
        because: /to match object \{ outcome: 'ok', complete: true/,
      },
      {
        title:
          'a power cut leaves whole pages and the place to go on from, wherever it cuts the log; ${CASES} cuts, SEED=${SEED} (row 39)',
        because: /AssertionError: expected '2026.*' to be '2026/,
      },
    ],
  },
  {
    name: 'a request has no deadline',
    edits: [
      {
        find: 'const deadline = AbortSignal.timeout(deadlines.attemptMs)',
        replace: 'const deadline = new AbortController().signal',
      },
    ],
    caughtBy: [
      {
        title: 'over a body, byte by byte, is cut off at the deadline (row 11)',
        because: /TimeoutError.* to match object \{ code: 'api_unreachable'/,
      },
    ],
  },
  {
    name: 'what is unpacked has no limit',
    edits: [
      {
        find: 'unzip(bytes, { maxOutputLength: BODY_BYTES_MAX })',
        replace: 'unzip(bytes)',
      },
    ],
    caughtBy: [
      {
        title: 'by gzip that unpacks to 300 MiB is cut at the limit, with little memory and time (row 15)',
        because: /to contain 'unpacks to more than 64 MiB'/,
      },
    ],
  },
  {
    name: 'a list by offset is believed without looking again',
    edits: [
      {
        find: '  const doubt = DOUBTS.find(',
        replace: '  const doubt = facts.scan.pass === 1 ? undefined : DOUBTS.find(',
      },
    ],
    caughtBy: [
      {
        title: 'are all met in ${SEEDS} runs, where going on by offset alone misses some (SEED=${SEED})',
        because: /AssertionError: SEED=\d+: expected \[/,
      },
    ],
  },
  {
    // The answers of the service to POST requests.
    name: 'a request that comes twice is carried out twice',
    edits: [
      {
        find: 'if (name === undefined) return { answer',
        replace: 'if (name !== null) return { answer',
      },
    ],
    caughtBy: [
      {
        title: 'lets the same request be sent again without a second pipeline',
        because: /expected undefined to be 'true'/,
      },
      {
        title: 'makes one pipeline of ten requests at the same time',
        because: /expected 10 to be 1/,
      },
    ],
  },
  {
    name: 'a text may be a formula of a spreadsheet',
    edits: [
      {
        find: "return FORMULA_START.test(text) ? `'${text}` : text",
        replace: 'return FORMULA_START.test(text) ? text : text',
      },
    ],
    caughtBy: [
      {
        title: 'makes no formula of a text, whatever sign it begins with',
        because: /to deeply equal \[ '\\'=cmd'/,
      },
      {
        title: 'are text in every cell of a CSV, a row for each (row 62)',
        because: /to deeply equal \[\]/,
      },
    ],
  },
  {
    name: 'a snapshot is made in the place of the one before',
    edits: [
      {
        find: 'const unfinished = `${file}.tmp-${process.pid}`\n  try {\n    await removeLeftovers(file)\n    const live',
        replace: 'const unfinished = file\n  try {\n    await rm(file, { force: true })\n    const live',
      },
    ],
    caughtBy: [
      {
        title:
          'a reader goes on reading the moment that it opened while ${REPLACEMENTS} snapshots take its place (row 42)',
        because: /SqliteError: unable to open database file|AssertionError/,
      },
      {
        title: 'a snapshot for which the disk has no room leaves the one before; needs prlimit',
        because: /SqliteError|AssertionError/,
      },
    ],
  },
  {
    name: 'secrets are not taken out of what is said',
    edits: [
      {
        find: 'text.replace(pattern, REDACTED)',
        replace: "text.replace(pattern, '$&')",
      },
    ],
    caughtBy: [
      {
        title: 'never writes the key into its log',
        because: /not to contain 'canary-4711-secret'/,
      },
      {
        title: 'is taken out of what an upstream says of it',
        because: /to match object \{ message: StringContaining/,
      },
      {
        title: 'is taken out $written',
        because: /to contain '\[redacted\]'/,
      },
      {
        title: 'of a mail server that quotes the password (row 66)',
        because: /expected \[ 'password plain', .*\] to deeply equal/,
      },
    ],
  },
  {
    name: 'leads that are missing all at once are marked as deleted',
    edits: [
      {
        find: 'return missing > of * MISSING_SHARE_MAX ?',
        replace: 'return missing > of ?',
      },
    ],
    caughtBy: [
      {
        title: 'are believed only up to a fifth of all: more is a fault of the upstream, and said (row 34)',
        because: /to deeply equal \[ \+?0, \+?0, \+?0 \]/,
      },
    ],
  },
  {
    name: 'a lead whose time moved back is ignored for ever',
    edits: [
      {
        find: "const isOlderRecord = rule !== 'list' && isOlder(before, lead)",
        replace: 'const isOlderRecord = isOlder(before, lead)',
      },
    ],
    caughtBy: [
      {
        title: 'is as a complete full scan says, and its history with it: $kind',
        because: /to (deeply equal|match object)/,
      },
    ],
  },
  {
    name: 'a page of a full scan sets leads back at once',
    edits: [
      {
        find: "const isOlderRecord = rule !== 'list' && isOlder(before, lead)",
        replace: "const isOlderRecord = rule !== 'newer' && isOlder(before, lead)",
      },
    ],
    caughtBy: [
      {
        title: 'stays as it is after a full scan that broke off, until it is resumed and complete',
        because: /to match object/,
      },
    ],
  },
  {
    name: 'the leads of every second page of a scan are not noted',
    edits: [
      {
        find: 'await insertScanPage(trx, {',
        replace: 'if (before.pages % 2 === 0) await insertScanPage(trx, {',
      },
    ],
    caughtBy: [
      {
        title: 'hold at each page of a scan ($scan) that breaks off $failure',
        because: /to deeply equal \[\]/,
      },
    ],
  },
  {
    name: 'a message to a webhook is noted as delivered before it is',
    edits: [
      {
        find: 'own.add(message.id)',
        replace: `own.add(message.id)
      const sent = db.updateTable('webhook_message').where('id', '=', message.id)
      await sent.set({ state: 'delivered', next_attempt_at: null }).execute()`,
      },
    ],
    caughtBy: [
      {
        title: 'gets a few messages at once, while another gets all of its own',
        because: /to deeply equal \[ \{ state: 'waiting' \} \]/,
      },
    ],
  },
  {
    name: 'a record that comes late counts as the newest, whatever its time',
    edits: [
      {
        find: 'return before.updated_at > lead.updatedAt && !isCutToSecond(lead.updatedAt, before.updated_at)',
        replace: 'return false',
      },
    ],
    caughtBy: [
      {
        title: 'go on as they were when a removed lead comes back as an older record',
        because: /to deeply equal/,
      },
    ],
  },
  {
    name: 'an event that comes while its lead is being read is taken for followed',
    edits: [
      {
        find: `    .where('last_at', '=', last_at)
    .where('events', '=', events)
`,
        replace: '',
      },
    ],
    caughtBy: [
      {
        title: 'that comes while its lead is being read has it read again',
        because: /AssertionError: expected 'won' to be 'lost'/,
      },
    ],
  },
  {
    name: 'a reader goes on behind a page that a crash of PostgreSQL took away',
    edits: [
      {
        find: 'if (rows[0]?.marker === marker) return',
        replace: "if (rows[0]?.marker !== '?') return",
      },
    ],
    caughtBy: [
      {
        title: 'while leads are read has all of them after each sync',
        because: /expected \d+ to be \+0/,
      },
    ],
  },
]
