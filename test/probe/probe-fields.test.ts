import { expect, test } from 'vitest'
import { findFields, pickId } from '../../src/probe/field-probe.ts'
import { factsOf } from '../support/source/foreign.ts'

type RecordOf = (number: number) => object

const records = (count: number, of: RecordOf): unknown[] =>
  Array.from({ length: count }, (_, number) => of(number))

test.each<[string, unknown[], string[] | null]>([
  [
    'its name where many have nothing else',
    records(10, (n) => ({ name: `queue ${n}`, kind: 'x' })),
    ['name'],
  ],
  ['an id wherever there is one', records(10, (n) => ({ name: `queue ${n}`, key: n })), ['key']],
  ['no name of a few, which may be unique by chance', records(9, (n) => ({ name: `queue ${n}` })), null],
  ['no address beside a number', records(10, (n) => ({ email: `a${n}@b.c`, firm: 'x', Nr: n })), ['Nr']],
  ['no address behind a column of codes', records(9, (n) => ({ x: `A-${n}`, email: `a${n}@b.c` })), ['x']],
  ['an address behind names', records(9, (n) => ({ x: 'abcdefghi'[n], email: `a${n}@b.c` })), ['email']],
  ['no name that repeats', records(10, (n) => ({ name: `queue ${n % 9}` })), null],
  ['not whatever a single record has', [{ hash: 'x1', version: '4.7.3' }], null],
  ['what is called so of a single record', [{ uuid: 'x1', version: '4.7.3' }], ['uuid']],
])('the id of a record is %s', (_, of, id) => expect(pickId(of)).toEqual(id))

const at = (number: number): string => factsOf(number).created.toISOString()
const oneOf = (number: number, ...values: readonly unknown[]) => values[number % values.length]
const oneIn =
  (name: string, ...values: readonly unknown[]): RecordOf =>
  (n) => ({ [name]: oneOf(n, ...values) })
const timeIn = (name: string): [string, RecordOf] => [name, (n) => ({ [name]: at(n) })]
const amounts = (...values: readonly unknown[]): [string, RecordOf] => [
  `amounts such as ${values.slice(0, 3).join(' and ')}`,
  oneIn('amount', ...values),
]
/** A field that is the same in all records shows nothing, unless its name is usual. */
const person = (record: object): [string, RecordOf] => {
  const text = JSON.stringify(record)
  return [text, (n) => JSON.parse(text.replaceAll('Ana', `Ana ${n}`).replaceAll('7', `${n}`))]
}
const below = (wrapper: string): [string, RecordOf] => [
  `what stands below ${wrapper} is known as on top`,
  (n) => ({ [wrapper]: { status: factsOf(n).status, email: factsOf(n).email, updated_at: at(n) } }),
]

const NAMES = ['Ana Ruiz', 'Bob Meyer', 'Chloé Laurent', 'Dmitri Petrov', 'Elif Yilmaz', 'Farid Haddad']
const FIRMS = 'Adatum|Northwind Traders|Contoso GmbH|Litware|Fabrikam, Inc.|City Power & Light'.split('|')
const JOBS = ['Head of Sales', 'CEO', 'Marketing Manager', 'Engineer', 'Purchasing', 'Founder']
const letter = (n: number) => 'xyzuvwrstopq'[n]

/** Records, twelve of each, by what their fields are or are not. */
const RECORDS: readonly (readonly [string, RecordOf])[] = [
  ...['cdate', 'udate', 'date_entered', 'DATE_CREATE', 'DATE_MODIFY', 'engage_date'].map(timeIn),
  ...['expected_close_date', 'CloseDate', 'Closing_Date', 'estimatedclosedate'].map(timeIn),
  amounts('1.234,56', '12.500', 7),
  amounts('1 234,50', '99'),
  amounts('12.500', '99'),
  amounts('1,234.56', '99'),
  amounts('12.50', '12,50', ...Array.from({ length: 10 }, (_, index) => String(index + 1))),
  [
    'what is an object in some records is read in all',
    (n) => ({
      stage: n % 4 ? oneOf(n, 'new', 'won') : { id: 7, name: 'won' },
      amount: n % 3 ? `${n}.5` : { value: n, currency: 'EUR' },
      owner: n % 2 ? 7 : { id: n, name: NAMES[n % 6] },
    }),
  ],
  person({ owner_id: 7, owner_name: 'Ana', agent_id: 'a1' }),
  person({ owner: { id: 7, name: 'Ana' } }),
  person({ hubspot_owner_id: 7 }),
  person({ assignee: { id: 7 } }),
  person({ salesRep: 'Ana', agent: 'a1' }),
  [
    'a close_date is the expected end of open deals',
    (n) => ({ close_value: n, close_date: n < 5 ? at(n) : null }),
  ],
  ['what is the same in all is not guessed', () => ({ name: 'Lead', state: 'active', site: 'a.example' })],
  ['what differs is', (n) => ({ name: `Lead ${n}`, state: n % 2 ? 'active' : 'idle' })],
  ['a pipeline and a currency may be the same', (n) => ({ pipeline_id: 'p1', currency: 'USD', amount: n })],
  [
    'the state beside a city is a region and no status',
    (n) => ({ state: oneOf(n, 'CA', 'TX'), city: oneOf(n, 'Fresno', 'Austin') }),
  ],
  [
    'a probability is no score',
    (n) => ({ probability: n * 8, win_probability: n * 8, score: n % 2 ? n : null }),
  ],
  [
    'a stage says more than the status beside it',
    (n) => ({ status: oneOf(n, 'open', 'won'), stage_id: n % 4 }),
  ],
  ['a stage that is always the same says less', (n) => ({ status: oneOf(n, 'open', 'won'), sales_stage: 1 })],
  [
    'the owner of the lead is not who entered the record',
    (n) => ({ owner: oneOf(n, 'Ana', 'Bob'), lead_owner: oneOf(n, 'Cem', 'Dia', 'Eva') }),
  ],
  [
    'a start that most names share says nothing',
    (n) => ({
      new_name: oneOf(n, ...FIRMS),
      new_stage: oneOf(n, 'lead', 'offer'),
      new_createdon: at(n),
      new_amount: n,
      new_source: oneOf(n, 'fair', 'web'),
      new_ownerid: n % 4,
    }),
  ],
  [
    'the name of a company says so in any group, except in that of a seller',
    (n) => ({ about: { company_name: oneOf(n, ...FIRMS) }, created_by: { company_domain: 'ours.example' } }),
  ],
  ['a class of sizes is no number of employees', (n) => ({ company_size: n % 5 })],
  ['the display name of a company is no contact', oneIn('display_name', ...FIRMS)],
  ['the display name of a person is a contact', oneIn('display_name', ...NAMES)],
  [
    'a name of which the site is named is that of a company, whatever its form',
    (n) => ({ name: `Ada${letter(n)} Smith`, website: `https://ada${letter(n)}.example` }),
  ],
  ['a title of jobs is no company', oneIn('TITLE', ...JOBS)],
  ['a title of offers is no job', (n) => ({ title: `Offer ${n}` })],
  [
    'the revenue of a company is no value of a deal',
    (n) => ({ revenue: n * 1e6, employees: n, close_date: at(n) }),
  ],
  ['the revenue of a deal is its value', (n) => ({ revenue: n * 1e3, close_date: at(n) })],
  ['a role of users is no position', oneIn('role', 'admin', 'user')],
  ['a place in an order is no position', (n) => ({ position: n })],
  ['a currency without an amount is none', oneIn('currency', 'EUR', 'USD')],
  [
    'what is empty once it is mapped is not there',
    () => ({ tags: [], labels: [{ name: 'vip' }], website: 'n/a', source: ' ', owner: null, score: '-' }),
  ],
  [
    'false among texts is nothing',
    (n) => ({ company: n % 2 ? oneOf(n, ...FIRMS) : false, email: false, won: n % 2 === 0 }),
  ],
  ['a link to the record is no site', (n) => ({ url: `https://crm.example/leads/${n}` })],
  [
    'the address of a seller or a tool is no contact',
    (n) => ({ owner: { email: `s${n}@ours.example` }, cc_email: `x+${n}@crm.example` }),
  ],
  ['an address under an odd name is a contact', (n) => ({ requestor: [{ id: `p${n}@firm.example` }] })],
  ...['doc', 'attributes', 'resource', 'metadata'].map(below),
]

test('the fields of a record are found by their values and their names, as golden/fields.txt says', async () => {
  const told = RECORDS.map(([what, of]) => {
    const found = findFields(
      records(12, (number) => ({ id: number, ...of(number) })),
      ['id'],
    )
    return [what, ...found.map(({ field, rule }) => `  ${field}: ${JSON.stringify(rule)}`)].join('\n')
  })
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/fields.txt')
})
