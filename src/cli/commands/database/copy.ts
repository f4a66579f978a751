/** `leadsheet db copy`: copies the whole store into another database, and checks that both are the same. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { openData, storeAddressOf } from '../../../app/installation.ts'
import type { Config } from '../../../config/config.ts'
import { Secret } from '../../../config/secrets.ts'
import { LeadsheetError } from '../../../errors.ts'
import { copyStore, type TableCopy } from '../../../store/copy/copy.ts'
import { nameOf, placeOf, type StorePlace } from '../../../store/db/place.ts'
import type { Store } from '../../../store/db/store.ts'
import { isStoreThere } from '../../../store/db/store-exists.ts'
import { addExamples, showing } from '../../command.ts'
import { table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

interface Options {
  readonly from?: string
  readonly to?: string
}

export function defineCopy(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('copy')
    .description('copy the whole store to another database and compare the two')
    .option(
      '--from <store>',
      'store to copy: a file, or postgres://user@host/database?schema=NAME (default: the configured store)',
    )
    .option('--to <store>', 'store to copy to, in the same form (default: the configured store)')
    .action(showing(terminal, copy))
  addExamples(command, [
    'db copy --to postgres://leadsheet@db.example.com/leadsheet   (the password in PGPASSWORD or ~/.pgpass)',
    'db copy --from sqlite:data/leadsheet.db   (with LEADSHEET_DATABASE_URL_FILE set already)',
    'db copy --from "postgres://leadsheet@db.example.com/leadsheet?schema=north" --to sqlite:north.db',
  ])
}

async function copy(terminal: Terminal, options: Options): Promise<Result> {
  const config = await terminal.config()
  const [from, to] = [addressOf(config, options.from), addressOf(config, options.to)]
  const [source, target] = [placeOf(from), placeOf(to)]
  refuseSame(source, target)
  if (!(await isStoreThere(source))) {
    throw new LeadsheetError('report_no_data', `there is no store ${nameOf(source)} to copy`, {
      hint: 'Say --from, a file or the address of a schema.',
    })
  }
  const opening = { log: await terminal.log(), signal: terminal.signal }
  await using store = await openData({ ...config, databaseUrl: new Secret(from) }, opening)
  const started = performance.now()
  const tables = await copyShowing(terminal, store, target)
  const durationMs = Math.round(performance.now() - started)
  const rows = tables.reduce((sum, each) => sum + each.rows, 0).toLocaleString('en')
  const seconds = (durationMs / 1000).toFixed(1)
  const setting =
    target.kind === 'postgres'
      ? 'set database_url (LEADSHEET_DATABASE_URL) to it'
      : 'have it in data_dir as leadsheet.db'
  return {
    data: {
      from: nameOf(source),
      to: nameOf(target),
      installation: store.installationId,
      tables: tables.map((each) => ({ table: each.name, rows: each.rows, sha256: each.sha256 })),
      duration_ms: durationMs,
    },
    text: [
      table(
        tables.filter((each) => each.rows > 0),
        [
          { title: 'TABLE', value: ({ name }) => name },
          { title: 'ROWS', value: (each) => each.rows },
          { title: 'SHA-256 IN BOTH', value: ({ sha256 }) => sha256 },
        ],
      ),
      `${nameOf(target)}: ${rows} rows in ${tables.length} tables, copied in ${seconds} s`,
    ],
    notes: [
      `next: ${setting} and start leadsheet. ${nameOf(source)} is as it was: put it away, for who went on with both would mail everything twice`,
    ],
  }
}

async function copyShowing(terminal: Terminal, store: Store, target: StorePlace): Promise<TableCopy[]> {
  using progress = await terminal.progress('Copying')
  return await copyStore(store, target, {
    now: () => new Date(),
    signal: terminal.signal,
    onProgress: progress.update,
  })
}

/** @param given the address of a store as the user typed it; undefined means the store of the settings */
function addressOf(config: Config, given: string | undefined): string {
  if (given === undefined) return storeAddressOf(config)
  if (URL.parse(given)?.password) {
    throw new LeadsheetError(
      'usage_invalid',
      'no secret is taken from the command line, which every user of this machine can read',
      {
        hint: 'Leave the password out of the address, and set PGPASSWORD or PGPASSFILE; or set LEADSHEET_DATABASE_URL_FILE to one of the two stores. Take another password: this one has been shown.',
      },
    )
  }
  const path = given.replace(/^sqlite:(\/\/)?/, '')
  // Because SQLite takes any text as a file name, an address with another protocol would create a folder of
  // that name.
  if (path.includes('://') && !/^postgres(ql)?:/i.test(path)) {
    throw new LeadsheetError('usage_invalid', `${given} is no store`, {
      hint: 'A store is a file, sqlite:FILE, or postgres://user@host/database?schema=NAME.',
    })
  }
  return path
}

function refuseSame(source: StorePlace, target: StorePlace): void {
  const pathOf = (place: StorePlace) => (place.kind === 'sqlite' ? resolve(place.file) : nameOf(place))
  if (pathOf(source) !== pathOf(target)) return
  throw new LeadsheetError('usage_invalid', `${nameOf(source)} cannot be copied to where it is`, {
    hint: 'Say --to, or --from: what is left out is the store of the settings.',
  })
}
