/** The request for the page behind another: golden/next-pages.txt has the position and the address, or why it is refused. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { composeListRequest } from '../../../src/upstream/paging/list-request.ts'
import { nextPosition, requestPage } from '../../../src/upstream/paging/paging.ts'
import { type ProfileInput, parseProfile } from '../../../src/upstream/profile/profile.ts'
import { profileWith } from '../../support/source/test-source.ts'

interface Answered {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly list?: string
  readonly from?: string | null
  readonly rows?: number
}

/** Returns the position behind a page of two records at most, and the URL that is asked for there. */
function next(input: ProfileInput['paging'], answered: Answered): string {
  const {
    body = {},
    headers = {},
    list = 'https://crm.example/crm/v2/leads?limit=2',
    from = null,
    rows = 1,
  } = answered
  const { paging } = parseProfile({ name: 'test', paging: input, mapping: { lead: { id: 'id' } } }, 'test')
  const url = new URL(list)
  const records = Array.from({ length: rows }, (_, at) => ({ value: { id: at + 1 } }))
  try {
    const position = nextPosition(paging, from, { url, body, headers, records }, 2)
    return position === null ? 'the end' : `${position}, ${requestPage(paging, url, {}, position, 2).href}`
  } catch (thrown) {
    return String(thrown)
  }
}

/** The paging of a profile and what was answered, a pair on each line. */
const CASES = readFileSync(join(import.meta.dirname, 'pages.txt'), 'utf8')
  .trimEnd()
  .split('\n')

it('behind each page is asked for what it names or counts, at the address of the API alone', async () => {
  const told = CASES.map((line) => {
    const [paging = '', answered = ''] = line.split(/(?<=\}) (?=\{)/)
    return `${paging}\n  ${answered}\n  ${next(JSON.parse(paging), JSON.parse(answered))}\n`
  })
  await expect(told.join('')).toMatchFileSnapshot('golden/next-pages.txt')
})

it.each([
  ['an object', { id: { S: 'l1' }, at: 7 }],
  ['a text that looks like our own position', 'as JSON: {'],
])(
  'a body keeps a number that its template has as a text, and a cursor that is %s goes back whole',
  (_, LastKey) => {
    const request = { method: 'POST', body: { Limit: '50' } } as const
    const paging = { kind: 'cursor', param: 'StartKey', next: 'LastKey', size_param: 'Limit' } as const
    const profile = profileWith({ request, paging })
    const url = new URL('https://crm.example/leads')
    const answer = { url, body: { LastKey }, headers: {}, records: [{ value: {} }], takesJson: true }
    const { body } = composeListRequest(profile, url, {}, nextPosition(profile.paging, null, answer), 20)
    expect(body).toEqual({ Limit: '20', StartKey: LastKey })
  },
)
