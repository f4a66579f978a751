/** What the program says to a command that cannot be right; `vitest -u` renews the transcript. */
import { expect, it } from 'vitest'
import { transcribe } from '../support/process/transcript.ts'
import { folderWithDatabase } from '../support/store.ts'

const SETTINGS = `
api: { url: "http://127.0.0.1:9", key: k-123456 }
mail: { from: reports@example.com }
smtp: { url: "file:./outbox" }
recipients: [ana@example.com]
reports: [{ name: daily }, { name: weekly, recipients: [dana@example.com] }]
`

const COMMANDS = [
  ...[
    'agnts',
    'help agnts',
    'help nope',
    'config chek',
    'config check --quite',
    'config check --config folder',
  ],
  ...[
    'leads show',
    'leads list --sort foo',
    'leads list --q robotics',
    'figures --period week',
    'figures win_rat',
  ],
  ...['figures --from 2026-11-20', 'figures --from 2026-11-20 --to 2026-11-20', 'sync --full --only agents'],
  ...['sync --accept-deletions', 'probe crm.example.com', 'probe http://crm.example.com --key-file bad.yaml'],
  ...['annotate 2026-02-30 x', 'annotate 2026-11-15..2026-11-13 x', 'annotate 2026-11-13'],
  ...[`annotate 2026-11-13 ${'x'.repeat(121)}`, 'annotate 2026-11-13 x --pipeline pl_none'],
  ...[
    'annotate --remove 7',
    'annotate 2026-11-13 x --remove 7',
    'annotate --pipeline pl_none',
    'alerts ack 1',
  ],
  ...[
    'recipients set pause ana@example.com',
    'recipients sett paused ana@example.com',
    'recipients set paused',
  ],
  ...['recipients set active', 'recipients set active ana@example.com --all'],
  ...['recipients set paused zoe@example.com', 'recipients set paused ana@example.com --report weekly'],
  ...[
    'recipients link ana@example.com',
    'report new Weekly',
    'report new layout',
    'report new mine --from nope',
  ],
  ...[
    'report preview dayly',
    'report preview daily -o page.pdf',
    'report preview daily --for zoe@example.com',
  ],
  ...[
    'report preview daily --locale fr',
    'report preview daily --at 2999-01-01',
    'report preview daily --force',
  ],
  ...[
    'report resend daily',
    'report resend daily --failed --all',
    'report resend daily --failed --reason why',
  ],
  ...['report resend daily --to eve@example.com', 'report resend nightly --failed', 'report approve daily'],
  ...['schedule yearly', 'service run --port 65536', 'service run --speed 0', 'webhooks register'],
  ...['webhooks register --self', 'webhooks register --self https://example.com', 'webhooks register x'],
  ...['webhooks register ftp://example.com', 'webhooks register https://example.com --event lead.eaten'],
  ...[`webhooks register https://example.com --description ${'x'.repeat(201)}`, 'webhooks remove --yes'],
  ...[
    'pipelines create --name x --employees-min 9 --employees-max 3',
    'db restore bad.yaml',
    'outbox resolve',
  ],
]

it('commands that cannot be right are refused with what is wrong and what to do', async () => {
  const files = { 'leadsheet.yaml': SETTINGS, 'bad.yaml': 'x: 1\n'.repeat(300), 'folder/x': '' }
  const text = await transcribe(COMMANDS, { cwd: await folderWithDatabase(files), env: {} })
  await expect(text).toMatchFileSnapshot('golden/refused.txt')
  expect(text).not.toMatch(/bug in leadsheet|-wal/)
  expect(text.match(/^\[exit status [12]\]$/gm)).toHaveLength(COMMANDS.length)
})
