import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'vitest'
import type { Lead } from '../../../../src/domain/model.ts'
import { openStore } from '../../../../src/store/open.ts'
import { startRun } from '../../../../src/store/sync/sync-run.ts'
import { folderWith } from '../../../support/folder.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { lead, save } from '../../../support/store.ts'

const FIRST_SYNC = '2026-11-05T00:00:00.000Z'

function read(id: string, at: string, change: Partial<Lead>): Lead {
  return lead(id, { updatedAt: at, statusChangedAt: at, ...change })
}

/**
 * Makes two leads: one is contacted on the evening of the 10th, UTC, and won later. The other belongs to
 * another pipeline.
 */
async function folderWithHistory(): Promise<string> {
  const folder = folderWith()
  mkdirSync(join(folder, 'data'))
  await using store = await openStore(join(folder, 'data/leadsheet.db'), new Date(FIRST_SYNC))
  await store.write((trx) => startRun(trx, { mode: 'full', parts: ['leads'], at: FIRST_SYNC }))
  await save(store, [read('1', '2026-11-01T00:00:00.000Z', { score: 40, companyName: 'Before' })])
  await save(store, [read('2', '2026-11-09T00:00:00.000Z', { pipelineId: 'p2', status: 'contacted' })])
  await save(store, [read('1', '2026-11-10T23:30:00.000Z', { status: 'contacted', score: 70 })])
  await save(store, [read('1', '2026-11-12T00:00:00.000Z', { status: 'won', score: 90, companyName: 'Now' })])
  return folder
}

it('leads of the local copy are listed, filtered and counted, and shown with their history', async () => {
  const options = { cwd: await folderWithHistory(), env: { LEADSHEET_DATA_DIR: 'data' } }
  await checkTranscript(join(import.meta.dirname, 'golden/leads.txt'), options)
})
