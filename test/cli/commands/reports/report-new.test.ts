import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseDefinition } from '../../../../src/report/definition.ts'
import { tryReportQueries } from '../../../../src/store/queries/report-query.ts'
import { withEmptySnapshot } from '../../../../src/store/snapshot/snapshot.ts'
import { folderWith } from '../../../support/folder.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

const SETTINGS = 'reports:\n  - name: daily\n'

const makeIn = (cwd: string, ...args: string[]) => runWarm(['report', 'new', ...args], { cwd })

test('a new report has what another has, and queries that SQLite takes', async () => {
  const cwd = folderWith({ 'leadsheet.yaml': SETTINGS })
  const { status, stdout, stderr } = await makeIn(cwd, 'industries')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^Made templates\/industries\/report\.yaml\n/)
  expect(stdout).toContain('leadsheet report preview industries -o industries.html')

  const text = readFileSync(join(cwd, 'templates/industries/report.yaml'), 'utf8')
  const definition = parseDefinition({ path: 'report.yaml', text })
  expect(definition).toMatchObject({ title: 'Industries', period: 'working_day', sendWhen: 'always' })
  expect(definition.queries.map(({ name }) => name)).toEqual(['by-industry', 'largest-open'])
  const { signal } = new AbortController()
  await withEmptySnapshot({}, [], (file) => tryReportQueries(file, definition.queries, { signal }))
})

test('the settings stay as they are, and what to add to them is valid there', async () => {
  const cwd = folderWith({ 'leadsheet.yaml': SETTINGS })
  const { stdout } = await makeIn(cwd, 'industries')
  expect(readFileSync(join(cwd, 'leadsheet.yaml'), 'utf8')).toBe(SETTINGS)
  const [, lines = ''] = /add to reports in leadsheet\.yaml\n([\s\S]+)$/.exec(stdout) ?? []
  appendFileSync(join(cwd, 'leadsheet.yaml'), lines)
  const check = await runWarm(['config', 'check', '--json'], { cwd })
  // A daemon would need more settings than these.
  expect([check.status, check.stderr]).toEqual([2, ''])
  expect(check.stdout).toContain('"value": "industries"')
})

test('one of digits has them for a title, and one that is called as one of the program goes before that', async () => {
  const cwd = folderWith()
  await makeIn(cwd, '2026')
  const text = readFileSync(join(cwd, 'templates/2026/report.yaml'), 'utf8')
  expect(parseDefinition({ path: 'report.yaml', text }).title).toBe('2026')
  const told = expect.stringContaining('It replaces the weekly that comes with leadsheet')
  expect(await makeIn(cwd, 'weekly')).toMatchObject({ status: 3, stderr: told })
})

test('a report that a folder says is there already is left alone', async () => {
  const cwd = folderWith({ 'templates/mine/text.hbs': 'Mine' })
  const { status, stderr } = await makeIn(cwd, 'mine')
  expect(status).not.toBe(0)
  expect(stderr).toContain('templates/mine already exists')
})

test('a report that has only a folder yet can be looked at, and goes to nobody', async () => {
  const cwd = folderWith({
    'leadsheet.yaml':
      'smtp: { url: file:./outbox }\nmail: { from: a@example.com }\nrecipients: [ana@example.com]\n',
  })
  await makeIn(cwd, 'mine')
  const { status, stderr } = await runWarm(['report', 'send', 'mine'], { cwd })
  expect(status).not.toBe(0)
  expect(stderr).toContain('Add the report to `reports` in the settings.')
})
