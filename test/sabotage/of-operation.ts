/** Bugs in access rights, secrets and upgrades, on which operators rely. */
import type { Sabotage } from './sabotage.ts'

export const OF_OPERATION: readonly Sabotage[] = [
  {
    name: 'a message of a webhook is believed for having a signature, whichever it is',
    edits: [
      {
        find: 'return isSigned ? null',
        replace: 'return isSigned || true ? null',
      },
    ],
    caughtBy: [
      {
        title:
          'that cannot be verified is refused in the same words whatever is wrong with it, and leaves nothing',
        because: /with another body than was signed: expected 204 to be 401/,
      },
      {
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
        find: '  if (late !== null) return late\n',
        replace: '',
      },
    ],
    caughtBy: [
      {
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
        find: 'if (!NO_STEPS.includes(id)) return',
        replace: 'if (id !== null) return',
      },
    ],
    caughtBy: [
      {
        title: 'by calling a lead or a pipeline %j has no other path asked for (row 25)',
        because: /to deeply equal \[\]/,
      },
    ],
  },
  {
    name: 'everybody can read the secret of the webhook',
    edits: [{ find: "text, { flag: 'wx', mode: 0o600", replace: "text, { flag: 'wx', mode: 0o644" }],
    caughtBy: [
      {
        title: 'is kept with its secret for its owner alone, and what is sent is believed',
        because: /expected 420 to be 384/,
      },
    ],
  },
  {
    name: 'each time that a message of a webhook comes is an event of its own',
    edits: [
      {
        find: 'id: idOf(event, webhook.id, sent),',
        replace: 'id: `${idOf(event, webhook.id, sent)} ${performance.now()}`,',
      },
    ],
    caughtBy: [
      {
        title: 'that comes again is taken again, and changes nothing',
        because: /to match object/,
      },
      { title: 'that comes fifty times at once has one effect', because: /to match object/ },
    ],
  },
  {
    name: 'the dashboard is open to all where it has no token',
    edits: [
      {
        find: 'if (!isOpen || sign !== null) {',
        replace: 'if (sign !== null) {',
      },
    ],
    caughtBy: [
      {
        title: 'says what to set where it is closed, and leaves what is for everybody open',
        because: /The dashboard is closed/,
      },
    ],
  },
  {
    name: 'a session is believed without its signature',
    edits: [
      {
        find: 'const isOurs = timingSafeEqual(Buffer.from(signature), expected)',
        replace: 'const isOurs = true',
      },
    ],
    caughtBy: [
      {
        title: 'is none of ours once a character of it is another (SEED=${SEED})',
        because: /to deeply equal \[\]/,
      },
      { title: 'of another token is none', because: /expected 200 to be 401/ },
    ],
  },
  {
    name: 'a form of another site is taken',
    edits: [
      {
        find: 'if (hosts.isFromOwnPage(request)) return',
        replace: 'return',
      },
    ],
    caughtBy: [
      {
        title: 'of another one is not, whatever it knows',
        because: /expected \[ 'of another site', 303 \]/,
      },
    ],
  },
  {
    name: 'a form is taken without the token of its session',
    edits: [
      {
        find: 'return app.csrfProtection(request, reply, done)',
        replace: 'return done()',
      },
    ],
    caughtBy: [{ title: 'of another session is not taken', because: /expected 303 to be 403/ }],
  },
  {
    name: 'the pages answer to any name',
    edits: [
      {
        find: 'isAllowed: (request) => isOurs(request.headers.host) && isOurs(request.host),',
        replace: 'isAllowed: () => true,',
      },
    ],
    caughtBy: [{ title: 'may be %s', because: /to deeply equal \[\]/ }],
  },
  {
    name: 'a mail in the dashboard is not shut in',
    edits: [
      {
        find: '" sandbox title="The mail',
        replace: '" title="The mail',
      },
      {
        find: "data:\", 'sandbox'],",
        replace: 'data:"],',
      },
    ],
    caughtBy: [
      {
        title: 'shows in its frame the mail to the byte, but for where its pictures are',
        because: /AssertionError/,
      },
    ],
  },
  {
    name: 'what an upstream sends is stored with the key in it',
    edits: [{ find: 'hideKey(await readBody(', replace: '(await readBody(' }],
    caughtBy: [{ title: '%s is sent again and stored nowhere', because: /AssertionError/ }],
  },
  {
    name: 'a bug that nobody waits for is printed by Node',
    edits: [{ find: '  printBugs(terminal)\n', replace: '' }],
    caughtBy: [
      {
        title: 'in what the program says, shows and leaves behind, however it fares (row 66)',
        because: /to match/,
      },
    ],
  },
  {
    name: 'the environment turns off that certificates are checked',
    edits: [
      {
        find: 'deadlines.connectMs, rejectUnauthorized: true }',
        replace: 'deadlines.connectMs }',
      },
    ],
    caughtBy: [
      {
        title: 'gets no key',
        because: /to match object \{ code: 'api_unreachable'/,
      },
    ],
  },
  {
    name: 'the time of the last success moves before there is one',
    edits: [{ find: 'leads_as_of: null,', replace: 'leads_as_of: run.at,' }],
    caughtBy: [
      {
        title:
          'the time of the last success moves with the commit that ends the reading, while rows count page by page',
        because: /to deeply equal \[\]/,
      },
    ],
  },
  {
    name: 'a database is brought to a new schema without a backup',
    edits: [
      {
        find: '    await makeBackup(file, backup, { replaces: true, signal: upgrade.signal })\n',
        replace: '',
      },
    ],
    caughtBy: [
      {
        title: 'is copied as it is, and then brought to the present schema with all its rows',
        because: /expected \[\] to deeply equal \[ /,
      },
    ],
  },
  {
    name: 'everybody can read the secrets that init writes',
    edits: [
      {
        find: 'mode: isSecret ? 0o600 : 0o644',
        replace: 'mode: isSecret ? 0o644 : 0o644',
      },
    ],
    caughtBy: [
      {
        title: 'answers make settings that work, a test alert comes, and no secret was ever shown',
        because: /AssertionError/,
      },
    ],
  },
  {
    name: 'a database is brought to a new schema under a daemon that uses it',
    edits: [
      {
        find: '    await refuseWhileUsed(db, file, upgrade.now())\n',
        replace: '',
      },
    ],
    caughtBy: [
      {
        title: 'is not touched while a program of that version runs on it',
        because: /resolved/,
      },
    ],
  },
  {
    name: 'what changed before an event came is taken for what none told of',
    edits: [
      {
        find: "if (before === undefined || (before.leadsAsOf ?? '') <= from) return false",
        replace: "if (before === undefined || (run.leadsAsOf ?? '') <= from) return false",
      },
    ],
    caughtBy: [
      {
        title: 'what changed before the last event came was told of',
        because: /to deeply equal \[\]/,
      },
    ],
  },
  {
    name: 'where the name of a webhook leads is asked only when it is registered',
    edits: [
      {
        find: 'createWebhookPoster(guard, now)',
        replace: 'createWebhookPoster({ ...guard, ...(resolve && { lookup: resolve }) }, now)',
      },
    ],
    caughtBy: [
      {
        title: 'whose name leads to this machine once it is registered is not reached (row 64)',
        because: /the connection was cut/,
      },
    ],
  },
]
