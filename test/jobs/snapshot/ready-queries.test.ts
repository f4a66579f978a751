/** Each ready query runs on a snapshot, in the program and in the sqlite3 of analysts. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { publishSnapshot } from '../../../src/jobs/snapshot/publish-snapshot.ts'
import { ask, publishing, QUERIES } from '../../support/data/publishing.ts'
import { readAllText } from '../../support/docs/docs.ts'
import { folderWith } from '../../support/folder.ts'
import { startService } from '../../support/service.ts'
import { openSyncing } from '../../support/syncing.ts'

const files = readdirSync(QUERIES)

describe('the ready queries', () => {
  it('find rows', async () => {
    const folder = folderWith()
    await using service = await startService(folder, new Date('2026-11-21T06:00:00Z'), 40)
    const key = await service.createKey({ name: 'test', scope: 'read' })
    await using syncing = await openSyncing(service.url, key)
    await syncing.sync({ pageSize: 500, details: { perRun: 60, concurrency: 4 } })
    const { file } = await publishSnapshot(publishing(syncing.store, folder), new AbortController().signal)
    for (const name of files)
      expect(ask(file, readFileSync(join(QUERIES, name), 'utf8')), name).not.toEqual([])
  })

  it('say what they ask, are in the documentation, and none else is', () => {
    for (const file of files)
      expect(readFileSync(join(QUERIES, file), 'utf8')).toMatch(/^-- [A-Z].*[^.]\n(?:-- .*\n)*-- .*\.\n/)
    const linked = [...readAllText().matchAll(/\((?:\.\.\/|docs\/)queries\/([\w-]+\.sql)\)/g)].map(
      (match) => match[1],
    )
    expect(linked.sort()).toEqual(files)
  })
})
