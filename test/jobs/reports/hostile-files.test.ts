/** Leads with harmful names in attached files. Cells hold text only, and spreadsheets run nothing. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { readSheet } from 'read-excel-file/node'
import { describe, expect, it } from 'vitest'
import { LISTED_FIELDS } from '../../../src/domain/lead-fields.ts'
import type { ListedLead } from '../../../src/domain/lists.ts'
import type { MessageFile } from '../../../src/domain/message.ts'
import { makeAttachments } from '../../../src/jobs/reports/attachment.ts'
import { createLocaleContext } from '../../../src/report/words/locale-context.ts'
import { BLANK_LISTED } from '../../support/data/blank-lead.ts'
import { hasSqlite3 } from '../../support/data/sqlite3.ts'
import { folderWith } from '../../support/folder.ts'
import { PAYLOADS } from '../../support/mail/payloads.ts'
import { emptyDay } from '../../support/reports/figures.ts'

const NOW = '2026-11-21T05:04:00.000Z'
const DAY = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z', timeZone: 'UTC' }
const RATIO = { part: 1, whole: 2 }
/** Characters that begin a formula, and those that break, hide or reverse a text. */
const UNFIT = /^[=+\-@＝＋－＠]|[\p{Cc}\p{Zl}\p{Zp}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u

function leadNamed(name: string): ListedLead & { idleDays: number } {
  return {
    ...BLANK_LISTED,
    ...Object.fromEntries(LISTED_FIELDS.map((field) => [field, name])),
    expectedCloseAt: NOW,
    id: name,
    companyName: name,
    pipelineId: name,
    pipelineName: name,
    status: name,
    score: 90,
    value: { amount: 1, currency: 'EUR' },
    createdAt: NOW,
    changedAt: NOW,
    idleDays: 20,
  }
}

/** The database returns only well-formed text. */
const NAMES = PAYLOADS.map((payload) => payload.toWellFormed())

/** Makes files whose lists have a row for each name. */
async function filesOf(format: 'csv' | 'xlsx'): Promise<readonly MessageFile[]> {
  const rows = NAMES.map(leadNamed)
  const total = rows.length
  const wanted = ['top_leads', 'stalled', 'changes', 'pipelines', 'sources', 'own']
  const moved = rows.map((lead) => ({ ...lead, fromStatus: lead.status, toStatus: lead.status, at: NOW }))
  const line = { newLeads: 9, won: 1, winRate: RATIO }
  const attachments = await makeAttachments(
    wanted.map((list) => `${list}.${format}`),
    {
      report: 'daily',
      figures: {
        ...emptyDay(),
        period: DAY,
        prior: DAY,
        topLeads: { minScore: 80, total, rows },
        stalled: { days: 14, coverage: { known: total, of: total }, total, rows },
        changes: {
          since: NOW,
          coverage: { known: total, of: total },
          kinds: [{ kind: 'won', total, value: [], rows: moved }],
        },
        byPipeline: rows.map(({ id, companyName }) => ({
          id,
          name: companyName,
          ...line,
          leads: 1,
          openValue: [],
          stalled: 0,
        })),
        bySource: NAMES.map((source) => ({ source, ...line })),
        queries: [
          {
            name: 'own',
            title: '=1+1',
            note: null,
            sql: 'SELECT 1',
            isCut: false,
            columns: ['=1+1', 'value'],
            rows: NAMES.map((name) => [name, 1]),
          },
        ],
      },
      charts: [],
      locale: createLocaleContext('en-GB', 'UTC', NOW),
      leadUrl: 'https://crm.example.com/leads/{id}',
    },
  )
  expect(attachments.map(({ of }) => of)).toEqual(wanted)
  return attachments.map(({ file }) => file)
}

describe('names that are meant to do harm', () => {
  it('are text in every cell of a CSV, a row for each (row 62)', async () => {
    for (const file of await filesOf('csv')) {
      const rows = await readCsv(Buffer.from(file.content).toString('utf8'))
      expect(rows).toHaveLength(NAMES.length + 1)
      expect(textsIn(rows).filter((text) => UNFIT.test(text))).toEqual([])
    }
  })

  it.skipIf(!hasSqlite3)(
    'are text in every cell of an Excel file, which has no formula and no link (row 62)',
    async () => {
      for (const file of await filesOf('xlsx')) {
        const content = Buffer.from(file.content)
        const rows = await readSheet(content)
        expect(rows).toHaveLength(NAMES.length + 1)
        expect(textsIn(rows).filter((text) => UNFIT.test(text))).toEqual([])
        const parts = unzip(content)
        expect(parts).toContain('<row')
        expect(parts).not.toMatch(/<f[ >]|<hyperlink|<!ENTITY|<!DOCTYPE/)
      }
    },
  )
})

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
