/**
 * A PostgreSQL server on a free port of 127.0.0.1, with its data in a temporary folder. Its settings differ
 * from the defaults as those of users do: its user is no superuser, names need quotes, the password needs
 * escapes in a URL, text is not sorted by bytes, and its time zone is not UTC.
 */
import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, chownSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client, escapeIdentifier, escapeLiteral } from 'pg'
import { freePort } from '../network/free-port.ts'
import { quickFolder } from '../process/programs.ts'
import { findPrograms, localeArguments, type Programs } from './postgres-programs.ts'

/** The user that owns the databases. It may create roles but is no superuser, as in most hosted services. */
const USER = 'leadsheet'
const ADMIN = 'postgres'
const PASSWORD = 'p@ss/for:tests'
const START_SECONDS = 300

/** Settings for data that need not survive: fast, and lost with the machine. */
const HASTY = ['fsync = off', 'full_page_writes = off', 'synchronous_commit = off']
/**
 * Settings for data that must survive a crash of the server, but not of the machine. The server delays
 * writing as long as it may.
 */
const LAZY = ['fsync = off', "wal_writer_delay = '10s'", "wal_writer_flush_after = '1GB'"]

/**
 * A script that runs in a session of its own. When the process that opened the server ends in any way, the
 * script stops the server and deletes its data.
 */
const GUARD = `cat >/dev/null; "$1/pg_ctl" -D "$2/data" -m immediate stop; rm -rf "$2"`

const run = promisify(execFile)

export interface PostgresServer extends AsyncDisposable {
  /** The URL of the database `postgres` for its superuser. */
  readonly adminUrl: string
  start(): Promise<void>
  /** `fast` stops it as an administrator would: sessions are told. `immediate` stops it like a crash. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
}

/**
 * Opens a server that has been started and is empty.
 * @param isDurable whether committed data survive a crash of the server, at the cost of waiting for the disk
 * @throws Error if PostgreSQL is not installed or does not start
 */
export async function openPostgresServer(isDurable: boolean): Promise<PostgresServer> {
  const programs = findPrograms()
  const folder = mkdtempSync(join(quickFolder(), 'leadsheet-postgres-'))
  if (programs.user !== null) chownSync(folder, programs.user.uid, programs.user.gid)
  const guard = spawn('/bin/sh', ['-c', GUARD, 'sh', programs.folder, folder], {
    ...programs.user,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const port = await freePort()
  const control = (...args: string[]) =>
    runProgram(programs, 'pg_ctl', ['-D', join(folder, 'data'), '-w', '-t', String(START_SECONDS), ...args])
  const server: PostgresServer = {
    adminUrl: urlOf(ADMIN, port, 'postgres'),
    async start() {
      const log = join(folder, 'log')
      await control('-l', log, 'start').catch((error: unknown) => {
        const said = existsSync(log) ? readFileSync(log, 'utf8') : 'it has logged nothing'
        throw new Error(`PostgreSQL does not start: ${said}`, { cause: error })
      })
    },
    stop: (mode) => control('-m', mode, 'stop'),
    async [Symbol.asyncDispose]() {
      guard.stdin.end()
      if (guard.exitCode === null) await once(guard, 'exit')
    },
  }
  try {
    await createCluster(programs, folder, port, isDurable)
    await server.start()
    const role = `CREATE ROLE ${USER} LOGIN CREATEROLE PASSWORD ${escapeLiteral(PASSWORD)}`
    await withClient(server.adminUrl, (admin) => admin.query(role))
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
  return server
}

async function createCluster(
  programs: Programs,
  folder: string,
  port: number,
  isDurable: boolean,
): Promise<void> {
  const [data, password] = [join(folder, 'data'), join(folder, 'password')]
  writeFileSync(password, PASSWORD)
  const access = ['--username', ADMIN, '--pwfile', password, '--auth', 'scram-sha-256']
  const text = ['--encoding', 'UTF8', ...localeArguments()]
  await runProgram(programs, 'initdb', ['-D', data, '--no-sync', ...access, ...text])
  const settings = [
    "listen_addresses = '127.0.0.1'",
    `port = ${port}`,
    "unix_socket_directories = ''",
    'max_connections = 200',
    "shared_buffers = '32MB'",
    "timezone = 'America/St_Johns'",
    // Dropping a database waits for all open logins, and some tests leave one open without a password.
    "authentication_timeout = '10s'",
    ...(isDurable ? LAZY : HASTY),
  ]
  appendFileSync(join(data, 'postgresql.conf'), `${settings.join('\n')}\n`)
}

async function runProgram({ folder, user }: Programs, name: string, args: readonly string[]): Promise<void> {
  const { PATH = '' } = process.env
  await run(join(folder, name), args, { ...user, cwd: '/', env: { PATH } })
}

/**
 * Creates a database that belongs to the user.
 * @param admin a connection of a superuser
 * @param template the URL of the database to copy, which must have no connections; without it, the new
 * database is empty
 * @returns its URL
 */
export async function createDatabase(admin: Client, template: string | null = null): Promise<string> {
  const name = `Leads-${randomUUID().slice(0, 8)}`
  const source = template === null ? 'template0' : nameOf(template)
  // Copying files is quicker, because the default strategy writes everything to the log as well.
  await admin.query(
    `CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(source)} STRATEGY file_copy OWNER ${USER}`,
  )
  return databaseUrl(admin, name)
}

/** Renames a database. It must have no connections. */
export async function renameDatabase(admin: Client, url: string, name: string): Promise<void> {
  await admin.query(`ALTER DATABASE ${escapeIdentifier(nameOf(url))} RENAME TO ${escapeIdentifier(name)}`)
}

/** Drops a database, even if it has connections. */
export async function dropDatabase(admin: Client, url: string): Promise<void> {
  await admin.query(`DROP DATABASE ${escapeIdentifier(nameOf(url))} WITH (FORCE)`)
}

/** Returns the URL of a database for the user that is no superuser. */
export function databaseUrl(admin: Client, name: string): string {
  return urlOf(USER, admin.port, name)
}

/** Calls `use` with a connection that is closed afterwards. */
export async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(url)
  // An error that breaks the connection also fails the query, so it need not be handled here.
  client.on('error', () => {})
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

function urlOf(user: string, port: number, name: string): string {
  return `postgres://${user}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${name}`
}

function nameOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1))
}
