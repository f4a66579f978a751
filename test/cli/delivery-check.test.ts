import { expect, it } from 'vitest'
import { checkUnsubscribe } from '../../src/cli/installation-checks.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'

it.each([
  [
    'mail: { reply_to: stop@example.com }',
    'ok',
    'by a mail to stop@example.com; web.public_url would give a link',
  ],
  [
    'web: { public_url: https://reports.example.com/ }',
    'ok',
    'at https://reports.example.com, which has to lead to 127.0.0.1:8080',
  ],
  [
    'web: { public_url: "http://localhost:8080" }',
    'warn',
    'http://localhost:8080 is only for this machine, so that mail programs show no button for it',
  ],
])('the way out of a report is told of %s', (yaml, status, found) => {
  const config = loadConfig({ cwd: folderWith({ 'leadsheet.yaml': yaml }), env: {} })
  expect(checkUnsubscribe(config)).toMatchObject({ what: 'unsubscribing', status, found })
})
