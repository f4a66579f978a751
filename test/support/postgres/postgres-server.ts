/**
 * A PostgreSQL server of the installed programs, on a free port of 127.0.0.1, its data in a temporary folder. It is as
 * unlike our own machines as those of users are: who asks it is not its superuser, names need quotes and passwords
 * escapes in a URL, text is not sorted by its bytes, and its days do not begin at midnight UTC.
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

/** Owns the databases and may create roles, as hosted services let their customers; no superuser. */
const USER = 'leadsheet'
const ADMIN = 'postgres'
const PASSWORD = 'p@ss/for:tests'
const START_SECONDS = 300

/** For data that nobody keeps: faster, and lost with the machine. */
const HASTY = ['fsync = off', 'full_page_writes = off', 'synchronous_commit = off']
/** For what is kept through a crash of the server, which takes away as many commits as it ever may; not of the machine. */
const LAZY = ['fsync = off', "wal_writer_delay = '10s'", "wal_writer_flush_after = '1GB'"]

/**
 * Beside whoever opened the server, in a session of its own: once that is gone, however it ended, so are the server and
 * its data.
 */
const GUARD = `cat >/dev/null; "$1/pg_ctl" -D "$2/data" -m immediate stop; rm -rf "$2"`

const run = promisify(execFile)

export interface PostgresServer extends AsyncDisposable {
  /** Of the database `postgres`, as its superuser. */
  readonly adminUrl: string
  start(): Promise<void>
  /** `fast` as administrators stop it: sessions are told; `immediate` as if it had crashed. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
}

/**
 * Started, and empty.
 * @param isDurable whether what was committed outlives a crash, at the price of waiting for the disk
 * @throws Error where PostgreSQL is not installed or does not start
 */
export async function openPostgresServer(isDurable: boolean): Promise<PostgresServer> {
  const programs = findPrograms()
  const folder = mkdtempSync(join(quickFolder(), 'leadsheet-postgres-'))
  if (programs.user !== null) chownSync(folder, programs.user.uid, programs.user.gid)
  const guard = spawn('/bin/sh', ['-c', GUARD, 'sh', programs.folder, folder], {
    ...{ ...programs.user, cwd: '/', detached: true },
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
    // Whoever drops a database waits for the end of all attempts to connect, and one without a password is left open.
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
 * A new database of the user's own.
 * @param admin as a superuser
 * @param template the URL of the one that it is a copy of, to which nobody may be connected; empty without one
 * @returns its URL
 */
export async function createDatabase(admin: Client, template: string | null = null): Promise<string> {
  const name = `Leads-${randomUUID().slice(0, 8)}`
  const source = template === null ? 'template0' : nameOf(template)
  // By files, or all of it would go through the log too.
  await admin.query(
    `CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(source)} STRATEGY file_copy OWNER ${USER}`,
  )
  return databaseUrl(admin, name)
}

/** Nobody may be connected to it. */
export async function renameDatabase(admin: Client, url: string, name: string): Promise<void> {
  await admin.query(`ALTER DATABASE ${escapeIdentifier(nameOf(url))} RENAME TO ${escapeIdentifier(name)}`)
}

/** Whoever is connected to it. */
export async function dropDatabase(admin: Client, url: string): Promise<void> {
  await admin.query(`DROP DATABASE ${escapeIdentifier(nameOf(url))} WITH (FORCE)`)
}

/** As the user has it who is no superuser. */
export function databaseUrl(admin: Client, name: string): string {
  return urlOf(USER, admin.port, name)
}

/** Connected while it is used. */
export async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(url)
  // What breaks the connection fails what is asked on it, too.
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
  return new URL(url).pathname.slice(1)
}
