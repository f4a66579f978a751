import { expect, it } from 'vitest'
import { readTableComments, readViewComments } from '../../../src/store/schema/describe.ts'

it('the comments of a table belong to the table before the first column, and to the column whose line they end', () => {
  const create = `CREATE TABLE lead ( -- one row per lead
    id TEXT PRIMARY KEY, -- the identifier
    name TEXT,
    state TEXT NOT NULL CHECK (state IN ('a, (b', 'c''d')), -- one of two
    PRIMARY KEY (state, id)
  ) STRICT`
  const { whole, columns } = readTableComments(create)
  expect(whole).toBe('one row per lead')
  expect(Object.fromEntries(columns)).toEqual({ id: 'the identifier', state: 'one of two' })
})

it('the comments of a view belong to the view before its query, and to the columns that they name', () => {
  const create = `CREATE VIEW won AS
    -- one row per lead that was won
    -- note: by its status
    -- days: how long it took, in days
    SELECT lead.*, x AS days
      -- id: is not meant, for it stands inside
      FROM lead`
  const { whole, columns } = readViewComments(create, ['days', 'id'])
  expect(whole).toBe('one row per lead that was won note: by its status')
  expect([...columns]).toEqual([['days', 'how long it took, in days']])
})
