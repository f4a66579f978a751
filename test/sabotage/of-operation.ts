/** Bugs in what operators rely on: who may see and do what, what stays secret, what an upgrade or a reload may do. */
import type { Sabotage } from './sabotage.ts'

const GUARD = 'test/web/auth/require-sign-in.test.ts'
const CANARY = 'test/faults/canary.test.ts'
const QUOTED = 'test/faults/quoted-secrets.test.ts'
const EVENTS_IN = 'test/faults/webhook-in.test.ts'
const OF_UPSTREAM = 'of an upstream that quotes the key (row 66)'

export const OF_OPERATION: readonly Sabotage[] = [
  {
    name: 'a message of a webhook is believed for having a signature, whichever it is',
    edits: [
      {
        file: 'src/upstream/webhooks/verify-signature.ts',
        find: 'return isSigned ? null',
        replace: 'return isSigned || true ? null',
      },
    ],
    caughtBy: [
      {
        file: EVENTS_IN,
        title:
          'that cannot be verified is refused in the same words whatever is wrong with it, and leaves nothing',
        because: /with another body than was signed: expected 204 to be 401/,
      },
      {
        file: EVENTS_IN,
        title:
          'is taken by the old secret and by the new one while they change, and by the old one no more after',
        because: /expected 204 to be 401/,
      },
    ],
  },
  {
    name: 'a message of a webhook is believed however old it is',
    edits: [
      {
        file: 'src/upstream/webhooks/verify-signature.ts',
        find: '  if (late !== null) return late\n',
        replace: '',
      },
    ],
    caughtBy: [
      {
        file: EVENTS_IN,
        title:
          'that cannot be verified is refused in the same words whatever is wrong with it, and leaves nothing',
        because: /signed five minutes and a second ago: expected 204 to be 401/,
      },
    ],
  },
  {
    name: 'what a lead is called leads to another path of the upstream',
    edits: [
      {
        file: 'src/upstream/client/request.ts',
        find: 'if (!NO_STEPS.includes(id)) return',
        replace: 'if (id !== null) return',
      },
    ],
    caughtBy: [
      {
        file: 'test/faults/refusals.test.ts',
        title: 'by calling a lead or a pipeline %j has no other path asked for (row 25)',
        because: /to deeply equal \[\]/,
      },
    ],
  },
  {
    name: 'everybody can read the secret of the webhook',
    edits: [{ file: 'src/jobs/events/webhook-registration.ts', find: 'mode: 0o600', replace: 'mode: 0o644' }],
    caughtBy: [
      {
        file: 'test/jobs/events/register-webhook.test.ts',
        title: 'is kept with its secret for its owner alone, and what is sent is believed',
        because: /expected 420 to be 384/,
      },
    ],
  },
  {
    name: 'each time that a message of a webhook comes is an event of its own',
    edits: [
      {
        file: 'src/upstream/webhooks/read-events.ts',
        find: 'id: idOf(event, webhook.id, sent),',
        replace: 'id: `${idOf(event, webhook.id, sent)} ${performance.now()}`,',
      },
    ],
    caughtBy: [
      {
        file: EVENTS_IN,
        title: 'that comes again is taken again, and changes nothing',
        because: /to match object/,
      },
      { file: EVENTS_IN, title: 'that comes fifty times at once has one effect', because: /to match object/ },
    ],
  },
  {
    name: 'the dashboard is open to all where it has no token',
    edits: [
      {
        file: 'src/web/auth/require-sign-in.ts',
        find: 'if (!isOpen || isForwarded) {',
        replace: 'if (isForwarded) {',
      },
    ],
    caughtBy: [
      {
        file: GUARD,
        title: 'says what to set where it is closed, and leaves what is for everybody open',
        because: /The dashboard is closed/,
      },
    ],
  },
  {
    name: 'a session is believed without its signature',
    edits: [
      {
        file: 'src/web/auth/session.ts',
        find: 'const isOurs = timingSafeEqual(Buffer.from(signature), expected)',
        replace: 'const isOurs = true',
      },
    ],
    caughtBy: [
      {
        file: GUARD,
        title: 'is none of ours once a character of it is another (SEED=${SEED})',
        because: /to deeply equal \[\]/,
      },
      { file: GUARD, title: 'of another token is none', because: /expected 200 to be 401/ },
    ],
  },
  {
    name: 'a form of another site is taken',
    edits: [
      {
        file: 'src/web/auth/require-sign-in.ts',
        find: 'if (hosts.isFromOwnPage(request)) return',
        replace: 'return',
      },
    ],
    caughtBy: [
      {
        file: GUARD,
        title: 'of another one is not, whatever it knows',
        because: /expected \[ 'of another site', 303 \]/,
      },
    ],
  },
  {
    name: 'a form is taken without the token of its session',
    edits: [
      {
        file: 'src/web/auth/require-sign-in.ts',
        find: 'return app.csrfProtection(request, reply, done)',
        replace: 'return done()',
      },
    ],
    caughtBy: [{ file: GUARD, title: 'of another session is not taken', because: /expected 303 to be 403/ }],
  },
  {
    name: 'the pages answer to any name',
    edits: [
      {
        file: 'src/web/server/allowed-hosts.ts',
        find: 'isAllowed: (request) => isOurs(request.headers.host) && isOurs(request.host),',
        replace: 'isAllowed: () => true,',
      },
    ],
    caughtBy: [{ file: GUARD, title: 'may be %s', because: /to deeply equal \[\]/ }],
  },
  {
    name: 'a mail in the dashboard is not shut in',
    edits: [
      {
        file: 'templates/dashboard/issue.hbs',
        find: '" sandbox title="The mail',
        replace: '" title="The mail',
      },
      {
        file: 'src/web/server/headers.ts',
        find: "data:\", 'sandbox'],",
        replace: 'data:"],',
      },
    ],
    caughtBy: [
      {
        file: 'test/web/dashboard/archive.test.ts',
        title: 'shows in its frame the mail to the byte, but for where its pictures are',
        because: /AssertionError/,
      },
    ],
  },
  {
    name: 'what an upstream says is quoted with the key in it',
    edits: [
      {
        file: 'src/upstream/client/answer.ts',
        find: 'problemText(redact(text))',
        replace: 'problemText(text)',
      },
    ],
    caughtBy: [{ file: QUOTED, title: OF_UPSTREAM, because: /expected \[ 'key plain'.*\] to deeply equal/ }],
  },
  {
    name: 'a bug that nobody waits for is printed by Node',
    edits: [{ file: 'src/main.ts', find: '  printBugs(terminal)\n', replace: '' }],
    caughtBy: [
      {
        file: CANARY,
        title: 'in what the program says, shows and leaves behind, however it fares (row 66)',
        because: /to match/,
      },
    ],
  },
  {
    name: 'the environment turns off that certificates are checked',
    edits: [
      {
        file: 'src/upstream/client/client.ts',
        find: ', rejectUnauthorized: true }',
        replace: ' }',
      },
    ],
    caughtBy: [
      {
        file: 'test/faults/certificate.test.ts',
        title: 'gets no key',
        because: /to match object \{ code: 'api_unreachable'/,
      },
    ],
  },
  {
    name: 'the time of the last success moves before there is one',
    edits: [
      { file: 'src/store/sync/sync-run.ts', find: 'leads_as_of: null,', replace: 'leads_as_of: run.at,' },
    ],
    caughtBy: [
      {
        file: 'test/web/metrics.test.ts',
        title:
          'the time of the last success moves with the commit that ends the reading, while rows count page by page',
        because: /to deeply equal \[\]/,
      },
    ],
  },
  {
    name: 'a reload takes settings that are wrong',
    edits: [
      {
        file: 'src/app/hot-reload.ts',
        find: 'if (config.dataDir !== first.dataDir) {',
        replace: "if (config.dataDir === '') {",
      },
    ],
    caughtBy: [
      {
        file: 'test/app/hot-reload.test.ts',
        title: 'are refused with %s, and those of before stay in force',
        because: /null/,
      },
    ],
  },
  {
    name: 'a database is brought to a new schema without a backup',
    edits: [
      {
        file: 'src/store/backup/upgrade.ts',
        find: 'makeBackup(file, backup, { replaces: true, signal: upgrade.signal }),',
        replace: 'Promise.resolve(),',
      },
    ],
    caughtBy: [
      {
        file: 'test/store/backup/upgrade.test.ts',
        title: 'is copied as it is, and then brought to the present schema with all its rows',
        because: /expected \[\] to deeply equal \[ /,
      },
    ],
  },
  {
    name: 'everybody can read the secrets that init writes',
    edits: [
      {
        file: 'src/config/new-files.ts',
        find: 'mode: isSecret ? 0o600 : 0o644',
        replace: 'mode: isSecret ? 0o644 : 0o644',
      },
    ],
    caughtBy: [
      {
        file: 'test/config/new-files.test.ts',
        title: 'secrets and their folder are for their owner alone',
        because: /AssertionError/,
      },
    ],
  },
  {
    name: 'a database is brought to a new schema under a daemon that uses it',
    edits: [
      {
        file: 'src/store/backup/upgrade.ts',
        find: '    await refuseWhileUsed(db, file, upgrade.now())\n',
        replace: '',
      },
    ],
    caughtBy: [
      {
        file: 'test/store/backup/upgrade.test.ts',
        title: 'is not touched while a program of that version runs on it',
        because: /resolved/,
      },
    ],
  },
  {
    name: 'a reload forgets the secrets of before',
    edits: [
      {
        file: 'src/cli/terminal/terminal.ts',
        find: '    for (const secret of secretsOf(config)) secrets.add(secret)',
        replace: '    secrets.clear()\n    for (const secret of secretsOf(config)) secrets.add(secret)',
      },
    ],
    caughtBy: [
      {
        file: 'test/cli/commands/operations/reload.test.ts',
        title:
          'a daemon that is told to reload goes by the new settings, or by the old ones, and hides the secrets of both',
        because: /AssertionError/,
      },
    ],
  },
  {
    name: 'what changed before an event came is taken for what none told of',
    edits: [
      {
        file: 'src/jobs/troubles/stopped-events.ts',
        find: "if (before === undefined || (before.leadsAsOf ?? '') <= from) return false",
        replace: "if (before === undefined || (run.leadsAsOf ?? '') <= from) return false",
      },
    ],
    caughtBy: [
      {
        file: 'test/jobs/stopped-events.test.ts',
        title: 'what changed before it was registered was told to nobody',
        because: /events_stopped/,
      },
    ],
  },
  {
    name: 'where the name of a webhook leads is asked only when it is registered',
    edits: [
      {
        file: 'src/service/open.ts',
        find: 'createWebhookPoster(guard, now)',
        replace: 'createWebhookPoster({ ...guard, ...(resolve && { lookup: resolve }) }, now)',
      },
    ],
    caughtBy: [
      {
        file: 'test/faults/webhooks-out.test.ts',
        title: 'whose name leads to this machine once it is registered is not reached (row 64)',
        because: /the connection was cut/,
      },
    ],
  },
  {
    name: 'the key of a request answers for another webhook than it was sent for',
    edits: [
      {
        file: 'src/service/http/server.ts',
        find: "const path = endpoint.path.replace(':id', () => call.id)",
        replace: 'const { path } = endpoint',
      },
    ],
    caughtBy: [
      {
        file: 'test/service/webhook-actions.test.ts',
        title: 'of one webhook does not answer for another with the same Idempotency-Key',
        because: /to deeply equal/,
      },
    ],
  },
]
