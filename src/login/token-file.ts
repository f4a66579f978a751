/**
 * Keeps the tokens of all logins in an SQLite file that all processes of an installation share. A transaction on
 * an empty file beside it holds a login while a token is asked for, so that only one process asks, and so that a
 * rotated refresh token is stored before anybody uses what came with it. Other logins need not wait.
 */
import { createHash } from 'node:crypto'
import { closeSync, openSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { errorText, LeadsheetError } from '../errors.ts'
import { learnSecret } from '../redaction.ts'
import { wait } from '../retry.ts'
import { DATA_MODE, makeFolder } from '../store/db/file-system.ts'
import type { Login, Token } from './token-request.ts'

const MODE = 0o600
/** The wait for a commit of another process, which takes as long as the disk. A new token must not be lost. */
const COMMIT_MS = 10_000
/** Short, because a wait inside SQLite stops the thread. */
const BUSY_MS = 5
const POLL_MS = 100
/** About five minutes. Another process needs at most two for its attempts. */
const POLLS_MAX = 3000
/** The commit of a token needs some pages. */
const FREE_BYTES_MIN = 1024 * 1024

/** A commit waits for the disk, and old tokens are overwritten in the file. */
const SETUP = `
PRAGMA synchronous = EXTRA;
PRAGMA secure_delete = ON;`

const TABLE = `
CREATE TABLE IF NOT EXISTS token (
  login TEXT PRIMARY KEY, -- hash of the settings of the login
  access_token TEXT NOT NULL,
  refresh_token TEXT,
  expires_at INTEGER, -- milliseconds since 1970; NULL if it is not known
  fetched_at INTEGER NOT NULL
) STRICT`

/**
 * Returns the stored token if it is good, otherwise fetches and stores another one.
 * @param stop ends the wait for another process
 * @param isGood tells whether a stored token can be used
 * @param fetch receives the stored token; null if there is none
 * @throws LeadsheetError data_unwritable, store_busy, store_corrupt, and whatever `fetch` throws
 */
export async function shareToken(
  path: string,
  stop: AbortSignal,
  login: Login,
  isGood: (stored: Token) => boolean,
  fetch: (stored: Token | null) => Promise<Token>,
): Promise<Token> {
  await makeFolder(dirname(path), FOLDER_HINT, DATA_MODE)
  const id = idOf(login)
  const database = openFile(path)
  const lock = openFile(`${path}-${id.slice(0, 12)}.lock`)
  let polls = 0
  try {
    // Another process may hold the login for long, and an earlier token be good for now.
    while (!hold(lock)) {
      const found = unlessBusy(() => readToken(database, id))
      if (found !== null && isGood(found)) return found
      if (polls++ === POLLS_MAX) throw busy(path)
      await wait(POLL_MS, stop)
    }
    // A wait is for the commit of another login. To miss the stored token would lose a rotated refresh token.
    database.pragma(`busy_timeout = ${COMMIT_MS}`)
    const stored = readToken(database, id)
    if (stored !== null && isGood(stored)) return stored
    refuseFull(path)
    const token = await fetch(stored)
    saveToken(database, id, token)
    return token
  } catch (thrown) {
    throw failureOf(path, thrown)
  } finally {
    database.close()
    lock.close()
  }
}

/**
 * Returns the identity of a login. A new secret or private key of the same client keeps its tokens; a new
 * refresh token in the settings begins anew.
 */
function idOf({
  clientSecret: _secret,
  privateKey: _key,
  clientAuth: _auth,
  settings: _settings,
  ...login
}: Login): string {
  const sorted = Object.entries(login).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex')
}

function openFile(path: string): Database.Database {
  try {
    createPrivate(path)
    const database = new Database(path, { timeout: COMMIT_MS })
    database.exec(SETUP)
    database.pragma(`busy_timeout = ${BUSY_MS}`)
    return database
  } catch (thrown) {
    throw failureOf(path, thrown)
  }
}

/** An existing file must not be opened: closing it would drop the locks that SQLite has on it in this process. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', MODE))
  } catch (thrown) {
    if (codeOf(thrown) !== 'EEXIST') throw thrown
  }
}

/** Begins a transaction, which ends when the file is closed; false if another process has one. */
function hold(lock: Database.Database): boolean {
  return unlessBusy(() => lock.exec('BEGIN IMMEDIATE')) !== null
}

/** Returns null while another process writes the file. */
function unlessBusy<T>(work: () => T): T | null {
  try {
    return work()
  } catch (thrown) {
    if (isBusy(thrown)) return null
    throw thrown
  }
}

const SELECT = `
SELECT access_token AS accessToken, refresh_token AS refreshToken, expires_at AS expiresAt, fetched_at AS fetchedAt
FROM token WHERE login = ?`

function readToken(database: Database.Database, id: string): Token | null {
  try {
    const token = database.prepare<string, Token>(SELECT).get(id) ?? null
    for (const secret of [token?.accessToken, token?.refreshToken]) if (secret) learnSecret(secret)
    return token
  } catch (thrown) {
    if (/no such table/.test(errorText(thrown))) return null
    throw thrown
  }
}

/** Must follow the answer at once: a kill before the commit loses a rotated refresh token. */
function saveToken(database: Database.Database, id: string, token: Token): void {
  database.exec('BEGIN IMMEDIATE')
  database.exec(TABLE)
  database
    .prepare('INSERT OR REPLACE INTO token VALUES (?, ?, ?, ?, ?)')
    .run(id, token.accessToken, token.refreshToken, token.expiresAt, token.fetchedAt)
  database.prepare('COMMIT').run()
}

const FOLDER_HINT = 'Set data_dir (LEADSHEET_DATA_DIR) to a folder that this user may write to.'

function refuseFull(path: string): void {
  const { bavail, bsize } = statfsSync(dirname(path))
  if (bavail * bsize >= FREE_BYTES_MIN) return
  throw new LeadsheetError('data_unwritable', `${path} has no room for a new token: the disk is full`, {
    hint: 'Free some space. No token was asked for.',
  })
}

/** Names what keeps the file from being used; any other error stays as it is. */
function failureOf(path: string, thrown: unknown): unknown {
  if (thrown instanceof LeadsheetError) return thrown
  const code = codeOf(thrown)
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    return new LeadsheetError('store_corrupt', `${path} is damaged: ${errorText(thrown)}`, {
      hint: 'Move it away. A login with a refresh token then needs a new one in its settings.',
      cause: thrown,
    })
  }
  if (isBusy(thrown)) return busy(path)
  if (!/^(SQLITE_|E[A-Z]+$)/.test(code)) return thrown
  return new LeadsheetError('data_unwritable', `${path} cannot be written: ${errorText(thrown)}`, {
    hint: FOLDER_HINT,
    cause: thrown,
  })
}

function busy(path: string): LeadsheetError {
  return new LeadsheetError('store_busy', `${path} stays locked by another process`, {
    hint: 'Another process asks for a token, or has stopped while it did. End it, and try again.',
  })
}

function isBusy(thrown: unknown): boolean {
  return codeOf(thrown).startsWith('SQLITE_BUSY')
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
}
