/** Generates the page with every sentence that recipients can meet, with example values, in each language. */
import { IntlMessageFormat } from 'intl-messageformat'
import { LANGUAGES, readCatalogue, type WordKey, wordsIn } from '../../src/report/words/catalogue.ts'
import { page } from './markdown.ts'

type Node = ReturnType<IntlMessageFormat['getAst']>[number]
type Values = Readonly<Record<string, string | number | null>>

const LOCALES: Readonly<Record<string, string>> = { en: 'en-GB', de: 'de-DE' }
/** The values of texts in sentences, in each language; texts that are not named here are numbers of two digits. */
const EXAMPLES: Readonly<Record<string, readonly [english: string, german: string]>> = {
  actual: ['3', '3'],
  address: ['dana@example.com', 'dana@example.com'],
  asOf: ['06:00', '06:00'],
  at: ['Fri 20 Nov, 06:00', 'Fr., 20. Nov., 06:00'],
  brief: ['20 Nov', '20. Nov.'],
  conditions: ['score 60 or more', 'Score ab 60'],
  counts: ['59 new leads, 3 won', '59 neue Leads, 3 gewonnen'],
  currency: ['EUR', 'EUR'],
  day: ['20 Nov', '20. Nov.'],
  end: ['22 Nov', '22. Nov.'],
  field: ['score', 'Score'],
  figure: ['New', 'Neu'],
  file: ['today.xlsx', 'today.xlsx'],
  first: ['20 Nov', '20. Nov.'],
  from: ['18 Nov, 09:00', '18. Nov., 09:00'],
  heading: ['Created', 'Angelegt'],
  label: ['a name', 'ein Name'],
  long: ['20 November 2026', '20. November 2026'],
  name: ['EU mid-market', 'EU Mittelstand'],
  names: ['EU mid-market', 'EU Mittelstand'],
  notes: ['A 13 Nov: campaign', 'A 13. Nov.: Kampagne'],
  parts: ['590–660 new leads', '590–660 neue Leads'],
  path: ['/leads/score', '/leads/score'],
  period: ['20 Nov', '20. Nov.'],
  pipelines: ['EU mid-market', 'EU Mittelstand'],
  range: ['41–74', '41–74'],
  rate: ['23.7%', '23,7 %'],
  reason: ['a campaign', 'eine Kampagne'],
  short: ['Fri 20 Nov', 'Fr., 20. Nov.'],
  since: ['18 Nov', '18. Nov.'],
  stage: ['Contacted', 'Kontaktiert'],
  state: ['idle', 'bereit'],
  text: ['campaign', 'Kampagne'],
  times: ['07:00', '07:00'],
  to: ['19 Nov, 09:00', '19. Nov., 09:00'],
  until: ['30 Nov', '30. Nov.'],
  value: ['$84k', '84.000 $'],
  weekdays: ['Mondays', 'montags'],
  where: ['EU mid-market', 'EU Mittelstand'],
  within: ['', ''],
  zone: ['Europe/Berlin', 'Europe/Berlin'],
}

export function sentencesPage(): string {
  const groups = [
    ...Map.groupBy(readCatalogue('en').keys(), (key) =>
      key.includes('.') ? key.replace(/\..*/, '') : 'words',
    ),
  ].map(([name, keys]) => [name, [...new Set(keys.flatMap(rowsOf))]] as const)
  return page(
    'Sentences',
    'The sentences that recipients read, in both languages, each in up to two forms and with example values. Forms for 0 and 1 are left out, and so are titles, labels and parts of up to thirteen words: all are in [src/report/words](../../src/report/words).',
    ...groups.filter(([, rows]) => rows.length >= ROWS_MIN).map(([name, rows]) => section(name, rows)),
    section(
      'others',
      groups.flatMap(([, rows]) => (rows.length < ROWS_MIN ? rows : [])),
    ),
  )
}

/** Smaller groups of the catalogue stand together. */
const ROWS_MIN = 6

function section(name: string, rows: readonly string[]): string {
  const head = `| ${LANGUAGES.join(' | ')} |\n|${LANGUAGES.map(() => '---').join('|')}|`
  return [`## ${name}\n`, head, ...rows].join('\n')
}

/** One row for each form of a message, without those of a few words, which are no sentences. */
function rowsOf(key: string): string[] {
  return formsOf(key).flatMap((values) => {
    const cells = LANGUAGES.map((language, place) => {
      const texts = Object.entries(values).map(([name, value]) => [
        name,
        EXAMPLES[name]?.[place] !== undefined && value === TEXT ? EXAMPLES[name][place] : value,
      ])
      const text = wordsIn(LOCALES[language] ?? language)(key as WordKey, Object.fromEntries(texts))
      return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
    })
    return cells.every((cell) => cell.split(' ').length < WORDS_MIN) ? [] : [`| ${cells.join(' | ')} |`]
  })
}

/** The fewest words of a sentence on the page. */
const WORDS_MIN = 14

/** Stands for a text of {@link EXAMPLES}. */
const TEXT = '12'

/** The values of each form of a message: the first form, and those in which one value is another. */
function formsOf(key: string): Values[] {
  const choices = new Map<string, (string | number | null)[]>()
  for (const language of LANGUAGES)
    collect(
      new IntlMessageFormat(readCatalogue(language).get(key) ?? '', 'en', undefined, {
        ignoreTag: true,
      }).getAst(),
      choices,
    )
  const first: Values = Object.fromEntries([...choices].map(([name, [value = TEXT]]) => [name, value]))
  const others = [...choices].flatMap(([name, values]) =>
    values.slice(1).map((value) => ({ ...first, [name]: value })),
  )
  return [first, ...others].slice(0, FORMS_MAX)
}

/** The most forms of a message on the page. */
const FORMS_MAX = 2

/** Finds the values that an argument can have: the cases of a choice, and numbers with different grammar. */
function collect(nodes: readonly Node[], choices: Map<string, (string | number | null)[]>): void {
  for (const node of nodes) {
    if (!('value' in node) || typeof node.value !== 'string' || node.type === 0) continue
    const known = choices.get(node.value) ?? []
    choices.set(node.value, known)
    const add = (value: string | number | null) => known.includes(value) || known.push(value)
    if (!('options' in node)) {
      if (known.length === 0) add(node.type === 1 ? TEXT : 12)
      continue
    }
    const cases = Object.keys(node.options)
    // The forms for 0 and 1 differ in their grammar alone.
    if (node.type === 6) add(12)
    else for (const each of cases) add(each === 'null' ? null : each === 'other' ? TEXT : each)
    for (const { value } of Object.values(node.options)) collect(value, choices)
  }
}
