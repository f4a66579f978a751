/** A key that another program rotates in the file that `api.key_file` names. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSourceOf } from '../../src/app/configured-upstream.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'
import { SILENT } from '../support/syncing.ts'
import { startUpstream } from '../support/upstream.ts'

test('the file with the key is read again when the upstream refuses the key', async () => {
  await using upstream = await startUpstream(3)
  const cwd = folderWith({
    'leadsheet.yaml': `api: { url: "${upstream.url}", key_file: secrets/key }`,
    'secrets/key': 'the-old-key',
  })
  const source = openSourceOf(loadConfig({ cwd, env: {} }), SILENT)
  writeFileSync(join(cwd, 'secrets', 'key'), 'the-new-key\n')
  upstream.faults.push((_request, response) => {
    response.writeHead(401).end()
    return true
  })
  expect((await source.listLeads({}, null, 10)).records).toHaveLength(3)
  expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer the-old-key',
    'Bearer the-new-key',
  ])
  await source.close()
})
