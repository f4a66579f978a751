/** Bugs in mails: messages that are lost, repeated or sent to the wrong people, and harmful texts. */
import type { Sabotage } from './sabotage.ts'

export const OF_MAIL: readonly Sabotage[] = [
  {
    name: 'a message is noted as sent before it is',
    edits: [
      {
        find: "await move(['sending'], { state: 'data' })",
        replace: "await move(['sending'], { state: 'sent', nextAttemptAt: null })",
      },
    ],
    caughtBy: [
      {
        title:
          'is unconfirmed when the answer to the message is lost, and sends once more under the same Message-ID',
        because: /expected \[ \[ 'ana@example.com', 'sent', 1 \] \] to deeply equal/,
      },
      {
        title: 'has the state on disk before the first byte of the message leaves',
        because: /to deeply equal \[ \+0/,
      },
      {
        title:
          'all arrive or are known to be unconfirmed, more than once only where they were unconfirmed, and byte for byte the same (row 60)',
        because: /expected \[ \{.*\} \] to deeply equal \[\]/,
      },
    ],
  },
  {
    name: 'a message whose sender was killed as it left is taken for unsent',
    edits: [
      {
        find: "await left.where('state', '=', 'sending')",
        replace: "await left.where('state', 'in', ['sending', 'data'])",
      },
    ],
    caughtBy: [
      {
        title: 'goes on after a crash in %s',
        because: /AssertionError/,
      },
    ],
  },
  {
    name: 'a name of a lead stands unescaped in a mail',
    edits: [
      {
        find: '{{company}}</a>',
        replace: '{{{company}}}</a>',
      },
    ],
    caughtBy: [
      {
        title: '$file lets nothing through unescaped',
        because: /expected '.*' not to match/,
      },
      {
        title: 'builds and runs nothing from $shown',
        because: /to deeply equal \[/,
      },
    ],
  },
  {
    name: 'a message unconfirmed is sent again and again',
    edits: [
      {
        find: 'const isLeft = one.unconfirmedCount + 1 >= UNCONFIRMED_MAX',
        replace: 'const isLeft = one.unconfirmedCount < 0',
      },
    ],
    caughtBy: [
      {
        title: 'is sent once more, and then left to a person',
        because: /to match object \[ \{ state: 'unconfirmed'/,
      },
    ],
  },
  {
    name: 'a mail server elsewhere need not have TLS',
    edits: [
      {
        find: "requireTLS: !isHere && url.searchParams.get('insecure') !== 'true',",
        replace: 'requireTLS: false,',
      },
    ],
    caughtBy: [
      {
        title: 'is required of a server elsewhere: nothing is said to one that has none',
        because: /expected ('\w+'|undefined) to be 'configuration'/,
      },
    ],
  },
  {
    name: 'a link is believed whoever signed it',
    edits: [
      {
        find: 'if (!isOurs) return null',
        replace: 'if (!isOurs && payload === undefined) return null',
      },
    ],
    caughtBy: [
      {
        title: 'of another installation is none',
        because: /to be null/,
      },
      {
        title: 'that was tampered with is none, in 1,000 ways (SEED=${SEED})',
        because: /to be null/,
      },
    ],
  },
  {
    name: 'operators are told of the same problem at each look',
    edits: [
      {
        find: "if (state !== 'open' || announced === 'open' || acknowledgedAt !== null) return false",
        replace: "if (state !== 'open' || acknowledgedAt !== null) return false",
      },
    ],
    caughtBy: [
      {
        title: 'that cannot pass by itself is told at once, and only once',
        because: /expected \{.* to be null/,
      },
    ],
  },
  {
    name: 'a section that cannot be read is left blank',
    edits: [
      {
        find: 'return { views: [box(unread)], failed: [] }',
        replace: 'return { views: [], failed: [] }',
      },
    ],
    caughtBy: [
      {
        title: 'goes out with that said in its place',
        because: /to contain 'DATA QUALITY/,
      },
    ],
  },
  {
    name: 'who looks at the page of a preference ends it',
    edits: [
      {
        find: 'await preferences.show(request.params.token)',
        replace: "await preferences.change(request.params.token, 'stop')",
      },
    ],
    caughtBy: [
      {
        title: 'changes nothing by being looked at, however often',
        because: /expected 'unsubscribed' to be null/,
      },
    ],
  },
  {
    name: 'who wants no more is mailed all the same',
    edits: [
      {
        find: "preference.state === 'active') return false",
        replace: "preference.state !== 'never') return false",
      },
      {
        find: "preference.state === 'active') wanted.push",
        replace: "preference.state !== 'never') wanted.push",
      },
    ],
    caughtBy: [
      {
        title: 'are not sent either where they come into the ledger after the choice',
        because: /expected false to be true/,
      },
      {
        title: 'goes to nobody who has paused or unsubscribed, and says who is left out',
        because: /expected \[\] to deeply equal \[ \{/,
      },
      {
        title: 'do not go out either where the choice came while they were being written',
        because: /AssertionError/,
      },
    ],
  },
]
