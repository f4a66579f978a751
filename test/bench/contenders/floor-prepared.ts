/** A floor of a first sync: the pages parsed, and each row inserted by a bare prepared statement. */
import type { WireLead } from '../../../src/contract/lead.ts'
import { timeStep, url } from '../step.ts'
import { type From, openFloor } from './floor.ts'
import { pagesOf } from './pages.ts'

type Value = string | number | null
type Take = (lead: WireLead, no: number, text: string) => Value

const AT = new Date().toISOString()

const floor = await openFloor()
const inserts = floor.tables.map(({ name, columns }) => ({
  statement: floor.db.prepare<unknown[]>(
    `INSERT INTO ${name} (${columns.map((column) => column.name).join()}) VALUES (${columns.map(() => '?').join()})`,
  ),
  takes: columns.map(({ from }) => takeOf(from)),
}))

await timeStep('first', async () => {
  let no = 0
  for await (const page of pagesOf(`${url}/v1`)) {
    for (const lead of page) {
      no++
      const text = JSON.stringify(lead)
      for (const { statement, takes } of inserts) statement.run(takes.map((take) => take(lead, no, text)))
    }
  }
  floor.finish()
})

function takeOf(from: From): Take {
  if ('path' in from) return takePath(from.path)
  if ('constant' in from) return () => from.constant
  const makes: Readonly<Record<typeof from.made, Take>> = {
    number: (_, no) => no,
    record: (_, __, text) => text,
    instant: () => AT,
    hash: (lead) => lead.id.slice(0, 16),
  }
  return makes[from.made]
}

function takePath([first = '', second]: readonly string[]): Take {
  const of = (value: unknown): Value =>
    typeof value === 'object' ? value && JSON.stringify(value) : (value as Value)
  if (second === undefined) return (lead) => of((lead as unknown as Record<string, unknown>)[first])
  return (lead) =>
    of((lead as unknown as Record<string, Record<string, unknown> | null>)[first]?.[second] ?? null)
}
