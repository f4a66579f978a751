/** `leadsheet recipients`, as a process. */
import { describe, expect, it } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { runLeadsheet } from '../support/leadsheet.ts'

const SETTINGS = `
recipients_file: people.csv
reports:
  - name: daily
  - name: weekly
    pipelines: [eu]
    recipients:
      - { address: dana@example.com, name: Dana, locale: de-DE, filter: { score: { min: 60 } }, blocks: [kpis] }
`
const FILES = { 'leadsheet.yaml': SETTINGS, 'people.csv': 'address\nana@example.com\n' }

describe('the recipients', () => {
  it('are listed with what they get of each report, and where that is said', async () => {
    const { stdout } = await runLeadsheet(['recipients'], { cwd: folderWith(FILES) })
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/))
    expect(lines.slice(1)).toEqual([
      ['ana@example.com', '-', 'daily', 'all', 'en-GB', 'UTC', 'as its folder says', '-', 'people.csv'],
      [
        ...['dana@example.com', 'Dana', 'weekly', 'pipelines: [eu], score: { min: 60 }', 'de-DE', 'UTC'],
        ...['kpis', '-', 'leadsheet.yaml:8:7'],
      ],
    ])
  })

  it('are data for other programs, of one report where that is asked for', async () => {
    const args = ['recipients', '--report', 'weekly', '--json']
    const { stdout } = await runLeadsheet(args, { cwd: folderWith(FILES) })
    expect(JSON.parse(stdout).data).toEqual([
      {
        ...{ address: 'dana@example.com', name: 'Dana', report: 'weekly', from: 'leadsheet.yaml:8:7' },
        ...{ locale: 'de-DE', time_zone: 'UTC', blocks: ['kpis'], attachments: [] },
        filter: { pipeline_ids: ['eu'], conditions: [{ field: 'score', min: 60, max: null }] },
      },
    ])
  })

  it('are none where nobody was named, and that is said', async () => {
    const { stdout, stderr } = await runLeadsheet(['recipients'], { cwd: folderWith() })
    expect(stdout).toBe('')
    expect(stderr).toContain('Nobody gets a report')
  })
})
