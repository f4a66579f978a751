/** The recipients of each report and their filters. */
import { describe, expect, test } from 'vitest'
import { effectiveSettings } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { RecipientConfig } from '../../src/config/report-config.ts'
import { folderWith } from '../support/folder.ts'

function load(yaml: string) {
  return loadConfig({ cwd: folderWith({ 'leadsheet.yaml': yaml }), env: {} })
}

/** Returns the recipients of the first report. */
function recipientsOf(yaml: string): readonly RecipientConfig[] {
  return load(yaml).reports[0]?.recipients ?? []
}

function filterOf(yaml: string) {
  return recipientsOf(yaml)[0]?.filter
}

describe('a recipient', () => {
  test('who is an address alone gets what the report says', () => {
    const yaml = `
time_zone: Europe/Berlin
recipients: [ana@example.com]
reports:
  - { name: daily, locale: de-de, blocks: [headline, kpis], attachments: [stalled.csv], filter: { pipelines: [eu] } }
`
    expect(recipientsOf(yaml)).toEqual([
      {
        address: 'ana@example.com',
        name: null,
        locale: 'de-DE',
        timeZone: 'Europe/Berlin',
        filter: { pipelineIds: ['eu'], conditions: [] },
        blocks: ['headline', 'kpis'],
        attachments: ['stalled.csv'],
      },
    ])
  })

  test('may have their name in quotes before the address', () => {
    const yaml = `
recipients: ['"A, B" <x@y>', Zoë <zoe@example.com>, '"\\"Q\\" <3" <q@example.com>', <w@example.com>]
reports: [{ name: daily }]
`
    const people = [
      ['A, B', 'x@y'],
      ['Zoë', 'zoe@example.com'],
      ['"Q" <3', 'q@example.com'],
      [null, 'w@example.com'],
    ]
    expect(recipientsOf(yaml).map(({ name, address }) => [name, address])).toEqual(people)
    const [ofEnvironment] = loadConfig({
      cwd: folderWith({ 'leadsheet.yaml': 'reports: [{ name: daily }]' }),
      env: { LEADSHEET_RECIPIENTS: '"A, B" <x@y>, z@example.com' },
    }).reports
    expect(ofEnvironment?.recipients.map(({ name, address }) => [name, address])).toEqual([
      ['A, B', 'x@y'],
      [null, 'z@example.com'],
    ])
  })

  test('who is a group gets what it says, in place of what the report says', () => {
    const yaml = `
reports:
  - name: daily
    attachments: [charts]
    blocks: [headline]
    recipients:
      - ben@example.com
      - address: dana@example.com
        name: Dana Lopes
        locale: de-AT
        time_zone: Europe/Vienna
        filter: { pipelines: [eu, apac], company_country: [Germany, Austria], score: { min: 60 } }
        blocks: [kpis, headline]
        attachments: []
`
    expect(recipientsOf(yaml)).toMatchObject([
      { address: 'ben@example.com', locale: 'en-GB', timeZone: 'UTC', attachments: ['charts'] },
      {
        address: 'dana@example.com',
        name: 'Dana Lopes',
        locale: 'de-AT',
        timeZone: 'Europe/Vienna',
        filter: {
          pipelineIds: ['apac', 'eu'],
          conditions: [
            { field: 'company_country', in: ['Austria', 'Germany'] },
            { field: 'score', min: 60, max: null },
          ],
        },
        blocks: ['kpis', 'headline'],
        attachments: [],
      },
    ])
  })

  test('narrows the filter of the report, and never widens it', () => {
    const filter = filterOf(`
reports:
  - name: daily
    filter: { pipelines: [eu, us], company_country: [Germany, France], score: { min: 40, max: 90 } }
    recipients:
      - address: ana@example.com
        filter: { pipelines: [us, latam], company_country: [France, Spain], score: { min: 20, max: 80 }, tags: [hot] }
`)
    expect(filter).toEqual({
      pipelineIds: ['us'],
      conditions: [
        { field: 'company_country', in: ['France'] },
        { field: 'score', min: 40, max: 80 },
        { field: 'tags', in: ['hot'] },
      ],
    })
  })

  test.each([
    ['owner: Ana', ['Ana']],
    ['owner: [Tom, Ana]', ['Ana', 'Tom']],
    ['owner: [Ana, Tom], filter: { owner: [Tom, Eve] }', ['Tom']],
  ])('with %s gets only the leads of %j, of those in the report', (owner, names) => {
    const filter = filterOf(`
reports:
  - name: daily
    filter: { pipelines: [eu] }
    recipients: [{ address: ana@example.com, ${owner} }]
`)
    expect(filter).toEqual({ pipelineIds: ['eu'], conditions: [{ field: 'owner', in: names }] })
  })

  test('has the same filter however it is written', () => {
    expect(filterOf('recipients: [{ address: a@b.c, owner: Ana }]')).toEqual(
      filterOf('recipients: [{ address: a@b.c, filter: { owner: [Ana] } }]'),
    )
    const one = filterOf('recipients: [{ address: a@b.c, filter: { tags: [x, y], agent_id: [a] } }]')
    const other = filterOf('recipients: [{ filter: { agent_id: [a], tags: [y, x] }, address: a@b.c }]')
    expect(JSON.stringify(one)).toBe(JSON.stringify(other))
  })

  test('counts as one setting with the others in the overview', () => {
    const settings = effectiveSettings(
      load('recipients: [{ address: ana@example.com, filter: { score: { min: 5 } } }, ben@example.com]'),
    )
    const ofRecipients = settings.filter(({ setting }) => /(?<!alerts\.)recipients$/.test(setting))
    expect(ofRecipients).toEqual([
      { setting: 'recipients', value: ['ana@example.com', 'ben@example.com'], source: 'leadsheet.yaml:1:13' },
      {
        setting: 'reports[0].recipients',
        value: ['ana@example.com', 'ben@example.com'],
        source: 'as recipients',
      },
    ])
  })

  test('and what a report may leave out are told in the overview', () => {
    const yaml =
      'reports: [{ name: daily, filter: { pipelines: [eu] } }, { name: weekly, filter: { tags: [a, b] } }]'
    expect(effectiveSettings(load(yaml))).toEqual(
      expect.arrayContaining([
        { setting: 'reports[0].filter', value: 'pipelines: [eu]', source: 'leadsheet.yaml:1:34' },
        { setting: 'reports[1].filter', value: 'tags: [a, b]', source: 'leadsheet.yaml:1:81' },
        { setting: 'reports[1].period', value: null, source: 'not set' },
        { setting: 'reports[1].locale', value: 'en-GB', source: 'as locale' },
      ]),
    )
  })
})
