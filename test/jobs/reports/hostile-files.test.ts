/** Leads with harmful names in attached files. Cells hold text only, and spreadsheets run nothing. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { readSheet } from 'read-excel-file/node'
import { expect, it } from 'vitest'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { MessageFile } from '../../../src/domain/message.ts'
import { makeAttachments } from '../../../src/jobs/reports/attachment.ts'
import { createLocaleContext } from '../../../src/report/words/locale-context.ts'
import { hasSqlite3 } from '../../support/data/sqlite3.ts'
import { folderWith } from '../../support/folder.ts'
import { PAYLOADS } from '../../support/mail/payloads.ts'
import { hostileDay } from '../../support/reports/figures.ts'

const NOW = '2026-11-21T05:04:00.000Z'
/** Characters that begin a formula, and those that break, hide or reverse a text. */
const UNFIT = /^[=+\-@＝＋－＠]|[\p{Cc}\p{Zl}\p{Zp}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u

/** The database returns only well-formed text. */
const NAMES = PAYLOADS.map((payload) => payload.toWellFormed())

/** Makes files whose lists have a row for each name. */
async function filesOf(format: 'csv' | 'xlsx'): Promise<readonly MessageFile[]> {
  const days = NAMES.map(hostileDay)
  const all = <T>(rowsOf: (day: ReportFigures) => readonly T[] | undefined): T[] =>
    days.flatMap((day) => rowsOf(day)?.slice(0, 1) ?? [])
  const base = hostileDay('=1+1')
  const total = NAMES.length
  const wanted = ['top_leads', 'stalled', 'changes', 'pipelines', 'sources', 'own']
  const changed = all(({ changes }) => changes.kinds[0]?.rows)
  const queried = all(({ queries }) => queries[0]?.rows)
  const attachments = await makeAttachments(
    wanted.map((list) => `${list}.${format}`),
    {
      report: 'daily',
      figures: {
        ...base,
        topLeads: { ...base.topLeads, total, rows: all(({ topLeads }) => topLeads.rows) },
        stalled: { ...base.stalled, total, rows: all(({ stalled }) => stalled.rows) },
        changes: {
          ...base.changes,
          kinds: base.changes.kinds.slice(0, 1).map((kind) => ({ ...kind, total, rows: changed })),
        },
        byPipeline: all(({ byPipeline }) => byPipeline).map((row) => ({ ...row, openValue: [] })),
        bySource: all(({ bySource }) => bySource),
        queries: base.queries.map((query) => ({ ...query, name: 'own', rows: queried, isCut: false })),
      },
      charts: [],
      locale: createLocaleContext('en-GB', 'UTC', NOW),
      leadUrl: 'https://crm.example.com/leads/{id}',
    },
  )
  expect(attachments.map(({ of }) => of)).toEqual(wanted)
  return attachments.map(({ file }) => file)
}

it.each(['csv', 'xlsx'] as const)(
  'names that are meant to do harm are text in every cell of a file as %s, a row for each, without formula and link',
  async (format) => {
    for (const file of await filesOf(format)) {
      const content = Buffer.from(file.content)
      const rows = format === 'csv' ? await readCsv(content.toString('utf8')) : await readSheet(content)
      expect(rows).toHaveLength(NAMES.length + 1)
      expect(textsIn(rows).filter((text) => UNFIT.test(text))).toEqual([])
      if (format === 'csv' || !hasSqlite3) continue
      const parts = unzip(content)
      expect(parts).toContain('<row')
      expect(parts).not.toMatch(/<f[ >]|<hyperlink|<!ENTITY|<!DOCTYPE/)
    }
  },
)

function textsIn(rows: readonly (readonly unknown[])[]): readonly string[] {
  const texts = rows.flat().filter((cell) => typeof cell === 'string')
  expect(texts.length).toBeGreaterThan(NAMES.length)
  return texts
}

/** Reads CSV with DuckDB by RFC 4180, with all cells as text. */
async function readCsv(text: string): Promise<readonly (readonly unknown[])[]> {
  const path = join(folderWith({ 'list.csv': text }), 'list.csv')
  const database = await DuckDBInstance.create(':memory:')
  const connection = await database.connect()
  const reader = await connection.runAndReadAll(
    `SELECT * FROM read_csv('${path}', header = false, all_varchar = true, quote = '"', escape = '"', delim = ',', max_line_size = 9000000)`,
  )
  connection.closeSync()
  database.closeSync()
  return reader.getRows()
}

/** Returns the text of all parts of an Excel file. */
function unzip(content: Buffer): string {
  const path = join(folderWith(), 'list.xlsx')
  writeFileSync(path, content)
  return execFileSync('sqlite3', [':memory:', `SELECT data FROM zipfile('${path}')`], { encoding: 'utf8' })
}
