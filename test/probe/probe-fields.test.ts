import { describe, expect, test } from 'vitest'
import { findFields, pickId } from '../../src/probe/field-probe.ts'
import { factsOf } from '../support/source/foreign.ts'

const records = (count: number, of: (number: number) => unknown): unknown[] =>
  Array.from({ length: count }, (_, number) => of(number))

describe('the id of a record', () => {
  test('is its name where many records have nothing else, and an id wherever there is one', () => {
    expect(pickId(records(10, (number) => ({ name: `queue ${number}`, kind: 'classic' })))).toEqual(['name'])
    expect(pickId(records(10, (number) => ({ name: `queue ${number}`, key: number })))).toEqual(['key'])
  })

  test('is no name of a few, which may well be unique by chance', () => {
    expect(pickId(records(9, (number) => ({ name: `queue ${number}` })))).toBeNull()
    expect(pickId(records(10, (number) => ({ name: `queue ${number % 9}` })))).toBeNull()
  })

  test('is not whatever a single record has', () => {
    expect(pickId([{ hash: 'x1', version: '4.7.3' }])).toBeNull()
    expect(pickId([{ uuid: 'x1', version: '4.7.3' }])).toEqual(['uuid'])
  })
})

describe('the fields of a record', () => {
  const found = (of: (number: number) => object) =>
    Object.fromEntries(
      findFields(
        records(12, (number) => ({ id: number, ...of(number) })),
        ['id'],
      ).map(({ field, rule }) => [field, rule]),
    )
  const at = (number: number): string => factsOf(number).created.toISOString()

  test.each([
    ['cdate', 'created_at'],
    ['udate', 'updated_at'],
    ['date_entered', 'created_at'],
    ['DATE_CREATE', 'created_at'],
    ['DATE_MODIFY', 'updated_at'],
    ['engage_date', 'created_at'],
    ['expected_close_date', 'expected_close_at'],
    ['CloseDate', 'expected_close_at'],
    ['Closing_Date', 'expected_close_at'],
    ['estimatedclosedate', 'expected_close_at'],
  ])('%s is %s', (name, field) => {
    expect(found((number) => ({ [name]: at(number) }))).toMatchObject({ [field]: name })
  })

  test.each([
    [['1.234,56', '12.500', 7], { from: 'amount', decimal: 'comma' }],
    [['1 234,50', '99'], { from: 'amount', decimal: 'comma' }],
    [['12.500', '99'], 'amount'],
    [['1,234.56', '99'], 'amount'],
    [['12.50', '12,50', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10'], 'amount'],
  ])('the amount of %j has its decimal sign named where values prove it', (amounts, rule) => {
    const amount = (number: number) => amounts[number % amounts.length]
    expect(found((number) => ({ amount: amount(number) }))).toEqual({ value_amount: rule })
  })

  test.each([
    [
      { owner_id: 7, owner_name: 'Ana', agent_id: 'a1' },
      { owner: 'owner_name', agent_id: 'agent_id' },
    ],
    [{ owner: { id: 7, name: 'Ana' } }, { owner: 'owner.name' }],
    [{ hubspot_owner_id: 7 }, { owner: 'hubspot_owner_id' }],
    [{ assignee: { id: 7 } }, { owner: 'assignee.id' }],
    [
      { salesRep: 'Ana', agent: 'a1' },
      { owner: 'salesRep', agent_id: 'agent' },
    ],
  ])('%j has a person who sells and who is no agent', (record, rules) => {
    // A value that is the same in all records shows nothing, unless its name is usual.
    const text = JSON.stringify(record)
    expect(
      found((number) => JSON.parse(text.replaceAll('Ana', `Ana ${number}`).replaceAll('7', `${number}`))),
    ).toMatchObject(rules)
  })

  test('close_value is the value, and close_date the expected end of open deals', () => {
    expect(found((number) => ({ close_value: number, close_date: number < 5 ? at(number) : null }))).toEqual({
      value_amount: 'close_value',
      expected_close_at: 'close_date',
    })
  })

  test('are not guessed from what is the same in all records', () => {
    expect(found(() => ({ name: 'Lead', state: 'active', site: 'a.example' }))).toEqual({})
    expect(found((number) => ({ name: `Lead ${number}`, state: number % 2 ? 'active' : 'idle' }))).toEqual({
      company_name: 'name',
      status: 'state',
    })
    expect(found((number) => ({ pipeline_id: 'p1', currency: 'USD', amount: number }))).toEqual({
      pipeline_id: 'pipeline_id',
      value_amount: 'amount',
      value_currency: 'currency',
    })
  })

  const NAMES = ['Ana Ruiz', 'Bob Meyer', 'Chloé Laurent', 'Dmitri Petrov', 'Elif Yilmaz', 'Farid Haddad']
  const FIRMS = [
    'Adatum',
    'Northwind Traders',
    'Contoso GmbH',
    'Litware',
    'Fabrikam, Inc.',
    'City Power & Light',
  ]
  const JOBS = ['Head of Sales', 'CEO', 'Marketing Manager', 'Engineer', 'Purchasing', 'Founder']
  const name = (number: number) => NAMES[number % 6]
  const firm = (number: number) => FIRMS[number % 6]
  const oneOf = (number: number, ...values: readonly unknown[]) => values[number % values.length]

  test.each<[string, (number: number) => object, object]>([
    [
      'the state beside a city is a region and no status',
      (number) => ({ state: oneOf(number, 'CA', 'TX'), city: oneOf(number, 'Fresno', 'Austin') }),
      { company_region: 'state', company_city: 'city' },
    ],
    [
      'a probability is no score',
      (number) => ({
        probability: number * 8,
        win_probability: number * 8,
        score: number % 2 ? number : null,
      }),
      { score: 'score' },
    ],
    [
      'a stage says more than the status beside it',
      (number) => ({ status: oneOf(number, 'open', 'won'), stage_id: number % 4 }),
      { status: 'stage_id' },
    ],
    [
      'a stage that is always the same says less',
      (number) => ({ status: oneOf(number, 'open', 'won'), sales_stage: 1 }),
      { status: 'status' },
    ],
    [
      'the owner of the lead is not who entered the record',
      (number) => ({ owner: oneOf(number, 'Ana', 'Bob'), lead_owner: oneOf(number, 'Cem', 'Dia', 'Eva') }),
      { owner: 'lead_owner' },
    ],
    [
      'a start that most names share says nothing',
      (number) => ({
        new_name: firm(number),
        new_stage: oneOf(number, 'lead', 'offer'),
        new_createdon: at(number),
        new_amount: number,
        new_source: oneOf(number, 'fair', 'web'),
        new_ownerid: number % 4,
      }),
      {
        company_name: 'new_name',
        status: 'new_stage',
        created_at: 'new_createdon',
        value_amount: 'new_amount',
        source: 'new_source',
        owner: 'new_ownerid',
      },
    ],
    [
      'the name of a company says so in any group, except in that of a seller',
      (number) => ({ about: { company_name: firm(number) }, created_by: { company_domain: 'ours.example' } }),
      { company_name: 'about.company_name' },
    ],
    ['a class of sizes is no number of employees', (number) => ({ company_size: number % 5 }), {}],
    [
      'the display name of a company is no contact',
      (number) => ({ display_name: firm(number) }),
      { company_name: 'display_name' },
    ],
    [
      'the display name of a person is a contact',
      (number) => ({ display_name: name(number) }),
      { contact_name: 'display_name' },
    ],
    [
      'a name of which the site is named is that of a company, whatever its form',
      (number) => ({
        name: `Ada${'xyzuvwrstopq'[number]} Smith`,
        website: `https://ada${'xyzuvwrstopq'[number]}.example`,
      }),
      { company_name: 'name', company_domain: 'website' },
    ],
    [
      'a title of jobs is no company',
      (number) => ({ TITLE: oneOf(number, ...JOBS) }),
      { contact_title: 'TITLE' },
    ],
    ['a title of offers is no job', (number) => ({ title: `Offer ${number}` }), { company_name: 'title' }],
    [
      'the revenue of a company is no value of a deal',
      (number) => ({ revenue: number * 1e6, employees: number, close_date: at(number) }),
      { company_employees: 'employees', expected_close_at: 'close_date' },
    ],
    [
      'the revenue of a deal is its value',
      (number) => ({ revenue: number * 1e3, close_date: at(number) }),
      { value_amount: 'revenue', expected_close_at: 'close_date' },
    ],
    ['a role of users is no position', (number) => ({ role: oneOf(number, 'admin', 'user') }), {}],
    ['a place in an order is no position', (number) => ({ position: number }), {}],
    ['a currency without an amount is none', (number) => ({ currency: oneOf(number, 'EUR', 'USD') }), {}],
    [
      'what is empty once it is mapped is not there',
      () => ({ tags: [], labels: [{ name: 'vip' }], website: 'n/a', source: ' ', owner: null, score: '-' }),
      {},
    ],
    [
      'false among texts is nothing',
      (number) => ({ company: number % 2 ? firm(number) : false, email: false, won: number % 2 === 0 }),
      { company_name: 'company' },
    ],
    ['a link to the record is no site', (number) => ({ url: `https://crm.example/leads/${number}` }), {}],
    [
      'the address of a seller or a tool is no contact',
      (number) => ({ owner: { email: `s${number}@ours.example` }, cc_email: `x+${number}@crm.example` }),
      { owner: 'owner.email' },
    ],
    [
      'an address under an odd name is a contact',
      (number) => ({ requestor: [{ id: `p${number}@firm.example` }] }),
      { contact_email: 'requestor.0.id' },
    ],
  ])('%s', (_, record, rules) => {
    const rulesFound = Object.entries(found(record)).map(([field, rule]) => [
      field,
      typeof rule === 'object' && 'from' in rule ? String(rule.from) : rule,
    ])
    expect(Object.fromEntries(rulesFound)).toEqual(rules)
  })

  test.each(['doc', 'attributes', 'resource', 'metadata'])('are known below %s as on top', (wrapper) => {
    const wrapped = records(12, (number) => {
      const { status, updated, email } = factsOf(number)
      return { id: `r${number}`, [wrapper]: { status, email, updated_at: updated.toISOString() } }
    })
    expect(findFields(wrapped, ['id']).map(({ field, rule }) => [field, rule])).toEqual(
      expect.arrayContaining([
        ['status', `${wrapper}.status`],
        ['updated_at', `${wrapper}.updated_at`],
        ['contact_email', `${wrapper}.email`],
      ]),
    )
  })
})
