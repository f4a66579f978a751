/** A floor of a first sync: SQLite parses each page once, and one statement a table inserts the rows of a page. */
import { timeStep, url } from '../step.ts'
import { type From, openFloor } from './floor.ts'
import { bytesOf } from './pages.ts'

const AT = new Date().toISOString()

const floor = await openFloor()
const parse = floor.db.prepare<[Buffer], Buffer>("SELECT jsonb_extract(CAST(? AS TEXT), '$.data')").pluck()
const inserts = floor.tables.map(({ name, columns }) =>
  floor.db.prepare<{ page: Buffer; before: number }>(
    `INSERT INTO ${name} (${columns.map((column) => column.name).join()})
     SELECT ${columns.map(({ from }) => expressionOf(from)).join()} FROM jsonb_each(:page) WHERE :before >= 0`,
  ),
)
const count = floor.db.prepare<[Buffer], number>('SELECT json_array_length(?)').pluck()

await timeStep('first', async () => {
  let before = 0
  for await (const bytes of bytesOf(`${url}/v1`)) {
    const page = parse.get(bytes) ?? Buffer.alloc(0)
    for (const insert of inserts) insert.run({ page, before })
    before += count.get(page) ?? 0
  }
  floor.finish()
})

function expressionOf(from: From): string {
  if ('path' in from) return `value ->> '$.${from.path.join('.')}'`
  if ('constant' in from) return typeof from.constant === 'number' ? `${from.constant}` : `'${from.constant}'`
  const makes: Readonly<Record<typeof from.made, string>> = {
    number: ':before + key + 1',
    record: 'json(value)',
    instant: `'${AT}'`,
    hash: `substr(value ->> '$.id', 1, 16)`,
  }
  return makes[from.made]
}
