/** Encodes rows as Apache Parquet, one row group at a time. Instants are UTC timestamps. */
import type { SchemaElement } from 'hyparquet-writer'
import type { Cell, CellType, Row, SnapshotTable } from '../../store/queries/snapshot-table.ts'

/** The number of rows of a group. A group is kept in memory until it is complete. */
const GROUP_ROWS = 10_000

const ELEMENTS = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT64' },
  real: { type: 'DOUBLE' },
  instant: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' } },
} as const satisfies Record<CellType, Omit<SchemaElement, 'name'>>

export async function* encodeParquet(
  table: SnapshotTable,
  chunks: Iterable<readonly Row[]>,
): AsyncGenerator<Uint8Array> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer')
  const types = table.readTypes()
  const elements = table.columns.map(({ name }, index): SchemaElement => {
    return { name, repetition_type: 'OPTIONAL', ...ELEMENTS[types[index] ?? 'text'] }
  })
  const bytes = new ByteWriter()
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'root', num_children: elements.length }, ...elements],
    createdBy: 'leadsheet',
  })
  for (const group of groupsOf(chunks)) {
    const columnData = table.columns.map(({ name }, index) => ({
      name,
      data: group.map((row) => parquetCell(row[index] ?? null, types[index] ?? 'text')),
    }))
    writer.write({ columnData, rowGroupSize: GROUP_ROWS })
    yield takeBytes()
  }
  writer.finish()
  yield takeBytes()

  function takeBytes(): Uint8Array {
    const taken = bytes.getBytes().slice()
    bytes.index = 0
    return taken
  }
}

function* groupsOf(chunks: Iterable<readonly Row[]>): Generator<Row[]> {
  let group: Row[] = []
  for (const rows of chunks) {
    group.push(...rows)
    if (group.length < GROUP_ROWS) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}

function parquetCell(cell: Cell, type: CellType): string | number | bigint | null {
  if (cell === null) return null
  if (type === 'text') return String(cell)
  if (type === 'real') return Number(cell)
  return type === 'instant' ? BigInt(Date.parse(String(cell))) : BigInt(cell)
}
