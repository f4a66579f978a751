import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { startUpstream, status } from '../../../support/upstream.ts'

it('sync tells of how many leads it read the details, and what became of the others, and publishes nothing where the settings say never', async () => {
  await using upstream = await startUpstream(9)
  const [gone = '', refused = ''] = upstream.leads.keys()
  upstream.detailFaults.set(gone, status(404)).set(refused, status(400))
  const cwd = folderWith({
    'one.yaml': 'enrichment: { per_run: 3 }',
    'none.yaml': 'data_dir: none\nenrichment: { policy: none }\nsnapshot: { when: never }',
  })
  const env = { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'test-key' }

  const all = await runWarm(['sync'], { cwd, env: { ...env, LEADSHEET_DATA_DIR: 'all' } })
  expect(all.stdout).toContain('details of 7 leads read; 1 not found, 1 failed and will be retried\n')

  upstream.detailFaults.clear()
  const some = await runWarm(['sync', '--config', 'one.yaml', '--json'], { cwd, env })
  expect(JSON.parse(some.stdout).data.details).toEqual({ read: 3, not_found: 0, failed: 0 })

  upstream.requests.length = 0
  const none = await runWarm(['sync', '--config', 'none.yaml'], { cwd, env })
  expect(none.stdout).not.toContain('details')
  expect(existsSync(join(cwd, 'none/snapshot.db'))).toBe(false)
  expect(upstream.requests.filter(({ path }) => /leads\/\w+$/.test(path))).toEqual([])
})
