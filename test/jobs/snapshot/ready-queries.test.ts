/** Each ready query runs on a snapshot, in the program and in the sqlite3 of analysts. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishSnapshot } from '../../../src/jobs/snapshot/publish-snapshot.ts'
import { ask, publishing, QUERIES } from '../../support/data/publishing.ts'
import { readAllText } from '../../support/docs/docs.ts'
import { startService } from '../../support/service.ts'
import { openSyncing } from '../../support/syncing.ts'

const files = readdirSync(QUERIES)
const pages = readAllText()

describe('the ready queries', () => {
  let folder: string
  let snapshot: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'leadsheet-queries-'))
    await using service = await startService(folder, new Date('2026-11-21T06:00:00Z'), 40)
    const key = await service.createKey({ name: 'test', scope: 'read' })
    await using syncing = await openSyncing(service.url, key, { folder })
    await syncing.sync({ pageSize: 500, details: { perRun: 60, concurrency: 4 } })
    const { file } = await publishSnapshot(publishing(syncing.store, folder), new AbortController().signal)
    snapshot = file
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each(files)('%s finds rows', (file) => {
    expect(ask(snapshot, readFileSync(join(QUERIES, file), 'utf8'))).not.toEqual([])
  })

  it('say what they ask, are in the documentation, and none else is', () => {
    for (const file of files)
      expect(readFileSync(join(QUERIES, file), 'utf8')).toMatch(/^-- [A-Z].*[^.]\n(?:-- .*\n)*-- .*\.\n/)
    const linked = [...pages.matchAll(/\((?:\.\.\/|docs\/)queries\/([\w-]+\.sql)\)/g)].map(
      (match) => match[1],
    )
    expect(linked.sort()).toEqual(files)
  })
})
