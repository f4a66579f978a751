import { describe, expect, it } from 'vitest'
import { readTableComments, readViewComments } from '../../../src/store/schema/describe.ts'

const columns = (create: string) => Object.fromEntries(readTableComments(create).columns)

describe('the comments of a table', () => {
  it('belong to the table before the first column, and to the column whose line they end', () => {
    const create = `CREATE TABLE lead ( -- one row per lead
      id TEXT PRIMARY KEY, -- the identifier
      name TEXT,
      score ANY -- 0 to 100
    ) STRICT`
    expect(readTableComments(create).whole).toBe('one row per lead')
    expect(columns(create)).toEqual({ id: 'the identifier', name: '', score: '0 to 100' })
  })

  it('are found beside commas and parentheses of checks, defaults, references and expressions', () => {
    expect(
      columns(`CREATE TABLE t (
        state TEXT NOT NULL CHECK (state IN ('a, (b', 'c''d')), -- one of two
        points REAL GENERATED ALWAYS AS (CAST(a AS REAL) / (b + 1)) VIRTUAL, -- per b
        lead_id TEXT REFERENCES lead (id), -- whose
        PRIMARY KEY (state, lead_id), -- not of a column
        CHECK (points > 0)
      )`),
    ).toEqual({ state: 'one of two', points: 'per b', lead_id: 'whose' })
  })

  it('are found inside a column that was added later, and go on in a second line', () => {
    expect(
      columns(`CREATE TABLE t (a TEXT, -- first
        -- and more
        b /* within */ INTEGER NOT NULL DEFAULT 0, "odd, name" TEXT /* quoted */)`),
    ).toEqual({ a: 'first and more', b: 'within', 'odd, name': 'quoted' })
  })
})

describe('the comments of a view', () => {
  const create = `CREATE VIEW won AS
    -- leads that were won,
    -- one row each
    -- days: how long it took,
    -- in days
    SELECT lead.*, x AS days
      -- id: is not meant, for it stands inside
      -- only the last
      FROM lead`

  it('belong to the view before its query, and to the columns that they name', () => {
    const { whole, columns } = readViewComments(create, ['days'])
    expect(whole).toBe('leads that were won, one row each')
    expect([...columns]).toEqual([['days', 'how long it took, in days']])
  })

  it('are text where they name no column', () => {
    expect(readViewComments('CREATE VIEW v AS\n-- note: this\nSELECT 1 AS a', ['a']).whole).toBe('note: this')
  })
})
