/** `leadsheet db copy`: copies the whole store into another database, and checks that both are the same. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { openData, storeAddressOf } from '../../../app/installation.ts'
import type { Config } from '../../../config/config.ts'
import { Secret } from '../../../config/secrets.ts'
import { LeadsheetError } from '../../../errors.ts'
import { type Moved, type MovedTable, type MovePlan, moveStore, planMove } from '../../../store/copy/copy.ts'
import { nameOf, placeOf, type StorePlace } from '../../../store/db/place.ts'
import type { Store } from '../../../store/db/store.ts'
import { isStoreThere } from '../../../store/db/store-exists.ts'
import { addExamples } from '../../command.ts'
import type { Terminal } from '../../terminal/terminal.ts'

interface Options {
  readonly from?: string
  readonly to?: string
  readonly dryRun?: boolean
}

const STEPS = { copy: 'Copying', compare: 'Comparing' }

export function defineCopy(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('copy')
    .description('copy the whole store to another database and compare the two')
    .option(
      '--from <store>',
      'store to copy: a file, or postgres://user@host/database?schema=NAME (default: the configured store)',
    )
    .option('--to <store>', 'store to copy to, in the same form (default: the configured store)')
    .option('--dry-run', 'show what would be copied, without writing anything')
    .action((options: Options) => copy(terminal, options))
  addExamples(command, [
    'db copy --to postgres://leadsheet@db.example.com/leadsheet   (the password in PGPASSWORD or ~/.pgpass)',
    'db copy --from sqlite:data/leadsheet.db   (with LEADSHEET_DATABASE_URL_FILE set already)',
    'db copy --from "postgres://leadsheet@db.example.com/leadsheet?schema=north" --to sqlite:north.db',
  ])
}

async function copy(terminal: Terminal, options: Options): Promise<void> {
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
  if (options.dryRun) await showPlan(terminal, store, target)
  else await moveAndShow(terminal, store, target)
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

async function showPlan(terminal: Terminal, store: Store, target: StorePlace): Promise<void> {
  const plan = await planMove(store, target, new Date())
  const tables = plan.tables.filter(({ rows }) => rows > 0)
  if (terminal.json) {
    terminal.printJson({ ...endsJson(store, target), is_dry_run: true, ...planJson(plan) })
    return
  }
  await terminal.printTable<MovePlan['tables'][number]>(
    [
      { title: 'TABLE', value: ({ name }) => name, isWhole: true },
      { title: 'ROWS', value: ({ rows }) => rows },
    ],
    tables,
  )
  terminal.note(`to ${nameOf(target)}: ${PLANS[plan.state]}; nothing was written`)
}

const PLANS: Readonly<Record<MovePlan['state'], string>> = {
  empty: 'nothing is there yet',
  begun: 'a move was cut off there; it would start over',
  whole: 'it was moved there before; the two would only be compared',
}

function planJson({ state, tables }: MovePlan) {
  return { target: state, tables: tables.map(({ name, rows }) => ({ table: name, rows })) }
}

async function moveAndShow(terminal: Terminal, store: Store, target: StorePlace): Promise<void> {
  const started = performance.now()
  const moved = await withProgress(terminal, (onProgress) =>
    moveStore(store, target, { now: () => new Date(), signal: terminal.signal, onProgress }),
  )
  const durationMs = Math.round(performance.now() - started)
  if (terminal.json) {
    terminal.printJson({
      ...endsJson(store, target),
      ...movedJson(moved),
      duration_ms: durationMs,
    })
  } else await printMoved(terminal, store, target, moved, durationMs)
  if (moved.violations.length > 0) terminal.end('partly')
}

async function withProgress(
  terminal: Terminal,
  work: (onProgress: Parameters<typeof moveStore>[2]['onProgress']) => Promise<Moved>,
): Promise<Moved> {
  using copying = await terminal.progress('Copying')
  return await work(({ step, done, total, table }) => copying.update(done, total, `${STEPS[step]} ${table}`))
}

function endsJson(store: Store, target: StorePlace) {
  return { from: nameOf(store.place), to: nameOf(target), installation: store.installationId }
}

function movedJson({ state, tables, violations }: Moved) {
  return {
    target: state,
    tables: tables.map(({ name, rows, sha256 }) => ({ table: name, rows, sha256 })),
    violations: violations.map(({ rule, count, examples }) => ({ rule, count, examples })),
  }
}

async function printMoved(
  terminal: Terminal,
  store: Store,
  target: StorePlace,
  { state, tables, violations }: Moved,
  durationMs: number,
): Promise<void> {
  await terminal.printTable<MovedTable>(
    [
      { title: 'TABLE', value: ({ name }) => name, isWhole: true },
      { title: 'ROWS', value: ({ rows }) => rows },
      { title: 'SHA-256 IN BOTH', value: ({ sha256 }) => sha256, isOptional: true },
    ],
    tables.filter(({ rows }) => rows > 0),
  )
  const rows = tables.reduce((sum, table) => sum + table.rows, 0).toLocaleString('en')
  const what = state === 'whole' ? 'had been moved before' : `moved in ${(durationMs / 1000).toFixed(1)} s`
  terminal.print('', `${nameOf(target)}: ${what}, ${rows} rows in ${tables.length} tables, the same in both`)
  for (const { rule, count } of violations)
    terminal.note(`warning: this rule does not hold, and did not before: ${rule} (${count})`)
  const setting =
    target.kind === 'postgres'
      ? 'set database_url (LEADSHEET_DATABASE_URL) to it'
      : 'have it in data_dir as leadsheet.db'
  terminal.note(
    `next: ${setting} and start leadsheet. ${nameOf(store.place)} is as it was: put it away, for who went on with both would mail everything twice`,
  )
}
