import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseDefinition } from '../../../../src/report/definition.ts'
import { tryReportQueries } from '../../../../src/store/queries/report-query.ts'
import { withEmptySnapshot } from '../../../../src/store/snapshot/snapshot.ts'
import { folderWith } from '../../../support/folder.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'

const SETTINGS = `mail: { url: file:./outbox, from: a@example.com }
recipients: [ana@example.com]
reports:
  - name: daily
`

test('a new report has what another has, and queries that SQLite takes; the settings stay as they are, and what to add is valid there', async () => {
  const cwd = folderWith({ 'leadsheet.yaml': SETTINGS, 'templates/mine/text.hbs': 'Mine' })
  await checkTranscript(join(import.meta.dirname, 'golden/new.txt'), { cwd })
  const text = readFileSync(join(cwd, 'templates/industries/report.yaml'), 'utf8')
  const { queries } = parseDefinition({ path: 'report.yaml', text })
  expect(queries.map(({ name }) => name)).toEqual(['by-industry', 'largest-open'])
  const { signal } = new AbortController()
  await withEmptySnapshot({}, [], (file) => tryReportQueries(file, queries, { signal }))
})
