/**
 * Reads messages from a mailbox over IMAP or from a folder of files. Nothing is ever written, marked or deleted
 * there.
 */
import { addAbortListener } from 'node:events'
import { createReadStream } from 'node:fs'
import { access, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { ImapFlow } from 'imapflow'
import { errorText, LeadsheetError, shellCommand } from '../errors.ts'
import { mailServerOf } from './mail-url.ts'
import type { Tokens } from './sending.ts'
import { CERTIFICATE, quoteServer, withToken } from './sending.ts'
import { pathOf } from './transport.ts'

interface ReadOptions {
  readonly signal: AbortSignal
  /** Only so many of the newest messages are read; 10,000 if absent. */
  readonly newest?: number
}

export interface Mailbox extends AsyncDisposable {
  /** The name of the place without the login, such as `imaps://imap.example.com:993/INBOX`. */
  readonly name: string
  /**
   * Reads the messages behind a position, the oldest first. All of the mailbox come again if the server has
   * numbered it anew. A folder yields those of its last minute again.
   * @param after null for all messages
   * @returns for each message its bytes, at most the first million, which have all that a notification says, and
   *   the position behind it
   * @throws LeadsheetError mail_unreachable
   */
  read(after: string | null, options: ReadOptions): AsyncGenerator<{ raw: Buffer; position: string }>
  /** Returns the position behind all messages that are there now. Throws LeadsheetError mail_unreachable. */
  position(signal: AbortSignal): Promise<string>
  /** Returns the URL of the folder for spam beside it; null if it is none, or not known. */
  spamUrl(signal: AbortSignal): Promise<string | null>
}

const MESSAGE_BYTES = 1_000_000
const NEWEST = 10_000

/**
 * @param url `imaps://user:password@host:993/FOLDER`, `imap://…` (STARTTLS), or `file:` with a path
 * @param tokens null if the login is in the URL; the mailbox closes them
 */
export function openMailbox(url: string, tokens: Tokens | null = null): Mailbox {
  return url.startsWith('file:') ? openFolder(pathOf(url)) : openImap(new URL(url), tokens)
}

const TIMEOUTS = { connectionTimeout: 30_000, greetingTimeout: 30_000, socketTimeout: 120_000 }
/** The number of messages that are held in memory at once. */
const BATCH = 20

function openImap(url: URL, tokens: Tokens | null): Mailbox {
  const place = placeOf(url)
  let kept: ImapFlow | null = null

  const connect = async (secret: string): Promise<ImapFlow> => {
    const { ImapFlow: Client } = await import('imapflow')
    const login = tokens === null ? { pass: secret } : { accessToken: secret }
    kept?.close()
    kept = new Client({ ...place.connection, auth: { user: place.user, ...login } })
    // An error reaches the command that it ends.
    kept.on('error', () => {})
    await kept.connect()
    await kept.mailboxOpen(place.folder, { readOnly: true })
    return kept
  }
  const open = async (signal: AbortSignal): Promise<ImapFlow> => {
    if (kept?.usable) return kept
    if (tokens === null) return connect(place.password)
    return withToken({ tokens, place: place.name, signal }, connect, isLogin)
  }
  /** Runs one step, which ends with the connection if the signal is aborted. */
  const step = async <T>(signal: AbortSignal, work: (client: ImapFlow) => Promise<T>): Promise<T> => {
    signal.throwIfAborted()
    using _listener = addAbortListener(signal, () => kept?.close())
    try {
      return await work(await open(signal))
    } catch (thrown) {
      const client = kept
      kept = null
      const error = signal.aborted ? signal.reason : await mailboxError(thrown, place, tokens, client)
      client?.close()
      throw error
    }
  }
  /** Returns the mark of the numbering, and the numbers behind `uid` (RFC 3501, 2.3.1.1), in order. */
  const list = (signal: AbortSignal, after: string | null) =>
    step(signal, async (client) => {
      // The server tells of messages that have come since the mailbox was opened.
      await client.noop()
      const validity = validityOf(client)
      const [known, uid] = after?.split(':') ?? []
      const last = known === validity ? Number(uid) : 0
      const found = await client.search({ uid: `${last + 1}:*` }, { uid: true })
      if (!Array.isArray(found)) throw new Error('the server refused to list the messages')
      // A search behind the end finds the newest message.
      return { validity, last, uids: found.filter((each) => each > last).sort((a, b) => a - b) }
    })

  return {
    name: place.name,
    async *read(after, { signal, newest = NEWEST }) {
      const { validity, uids } = await list(signal, after)
      for (let at = Math.max(0, uids.length - newest); at < uids.length; at += BATCH) {
        const range = uids.slice(at, at + BATCH)
        const query = { uid: true, source: { maxLength: MESSAGE_BYTES } }
        const batch = await step(signal, async (client) =>
          validityOf(client) === validity ? client.fetchAll(range, query, { uid: true }) : [],
        )
        for (const { uid, source } of batch.sort((a, b) => a.uid - b.uid))
          if (source !== undefined) yield { raw: source, position: `${validity}:${uid}` }
      }
    },
    async position(signal) {
      const { validity, last, uids } = await list(signal, null)
      return `${validity}:${uids.at(-1) ?? last}`
    },
    spamUrl: (signal) =>
      step(signal, async (client) => {
        const spam = (await client.list()).find(({ specialUse }) => specialUse === '\\Junk')
        if (spam === undefined || spam.path === place.folder) return null
        return Object.assign(new URL(url), { pathname: encodeURIComponent(spam.path) }).href
      }),
    async [Symbol.asyncDispose]() {
      await kept?.logout().catch(() => undefined)
      await tokens?.close()
    },
  }
}

function validityOf({ mailbox }: ImapFlow): string {
  return mailbox === false ? '' : String(mailbox.uidValidity)
}

type Place = ReturnType<typeof placeOf>

function placeOf(url: URL) {
  const { name, isHere, connection, ...login } = mailServerOf(url, [993, 143])
  const folder = decodeURIComponent(url.pathname.slice(1)) || 'INBOX'
  return {
    ...login,
    name: `${name}/${folder}`,
    folder,
    connection: {
      ...connection,
      // As for SMTP: TLS is required unless the server runs on this machine.
      ...(connection.secure || isHere ? {} : { doSTARTTLS: true }),
      logger: false as const,
      disableAutoIdle: true,
      ...TIMEOUTS,
    },
  }
}

/** Tells whether the server refused the login. */
function isLogin(thrown: unknown): boolean {
  return Object(thrown).authenticationFailed === true
}

const SETTING = 'mail.bounces.url (LEADSHEET_MAIL_BOUNCES_URL)'
const WORDS = {
  password: {
    problem: 'did not let us in',
    hint: `Check the user and the password of ${SETTING}, and whether the account allows IMAP. Microsoft 365 takes no passwords, and Google only app passwords: see mail.bounces.oauth.`,
  },
  token: {
    problem: 'did not let us in',
    hint: `The login gave a token. Check the user in ${SETTING}, whether the scope of the login is that of IMAP, and whether the account allows IMAP.`,
  },
  folder: {
    problem: 'has no such folder',
    hint: `Write the name of a folder behind the host of ${SETTING}.`,
  },
  tls: {
    problem: 'has no TLS that can be trusted',
    hint: `Check the port and the protocol of ${SETTING}, imaps:// (mostly 993) or imap:// with STARTTLS (mostly 143), and the certificate of the server.`,
  },
  away: {
    problem: 'could not be read',
    hint: `Sending goes on, and it is tried again. If it keeps failing, check ${SETTING}: ${shellCommand('outbox bounces')} tries it.`,
  },
}

async function mailboxError(
  thrown: unknown,
  { name, password }: Place,
  tokens: Tokens | null,
  client: ImapFlow | null,
): Promise<LeadsheetError> {
  if (thrown instanceof LeadsheetError) return thrown
  const { mailboxMissing, tlsFailed, code, responseText, response } = Object(thrown)
  const login = tokens === null ? 'password' : 'token'
  const other = mailboxMissing ? 'folder' : tlsFailed || CERTIFICATE.test(code) ? 'tls' : 'away'
  const { problem, hint } = WORDS[isLogin(thrown) ? login : other]
  const said = [responseText, response].find((each) => typeof each === 'string') ?? errorText(thrown)
  const folders = mailboxMissing && (await client?.list({ listOnly: true }).catch(() => []))
  const paths = (folders || []).slice(0, 20).map(({ path }: { path: string }) => path)
  return new LeadsheetError('mail_unreachable', `${name} ${problem}: ${quoteServer(said, [password])}`, {
    hint: paths.length === 0 ? hint : `${hint} There are: ${paths.join(', ')}.`,
    cause: thrown,
  })
}

/**
 * Files are read again for so long after the newest one, because several may come at one time, or while the
 * folder is listed.
 */
const OVERLAP_MS = 60_000

/**
 * Opens a folder of `.eml` files, or a Maildir. A position is the time at which a file came into the folder
 * (ctime), which no program sets back. A file that is only half there comes again once it is whole.
 */
function openFolder(path: string): Mailbox {
  const name = `file:${path}`
  const list = async (after: string | null) => {
    try {
      await access(path)
      const files = (await Promise.all(['', 'new', 'cur'].map((part) => listFiles(path, part)))).flat()
      const since = after === null ? 0 : Math.min(Number(after), Date.now()) - OVERLAP_MS
      return files.filter(({ at }) => at > since).sort((a, b) => a.at - b.at || (a.file < b.file ? -1 : 1))
    } catch (cause) {
      throw new LeadsheetError('mail_unreachable', `${name} could not be read: ${errorText(cause)}`, {
        hint: 'Check mail.bounces.url (LEADSHEET_MAIL_BOUNCES_URL): a folder with .eml files, or a Maildir, which this user may read.',
        cause,
      })
    }
  }
  return {
    name,
    async *read(after, { signal, newest = NEWEST }) {
      for (const { file, at } of (await list(after)).slice(-newest)) {
        signal.throwIfAborted()
        const raw = await readStart(file)
        if (raw !== null) yield { raw, position: String(at) }
      }
    },
    spamUrl: async () => null,
    position: async () => String((await list(null)).at(-1)?.at ?? 0),
    [Symbol.asyncDispose]: async () => {},
  }
}

async function listFiles(path: string, part: string): Promise<{ file: string; at: number }[]> {
  const folder = join(path, part)
  const names = await readdir(folder).catch((cause) => {
    if (part !== '' && cause.code === 'ENOENT') return []
    throw cause
  })
  const found: { file: string; at: number }[] = []
  for (const name of names) {
    if (name.startsWith('.') || (part === '' && !name.endsWith('.eml'))) continue
    const file = join(folder, name)
    const facts = await stat(file).catch(() => null)
    if (facts?.isFile()) found.push({ file, at: facts.ctimeMs })
  }
  return found
}

/** Null if the file is gone: a Maildir moves a file that was read, and it then counts as a new one. */
function readStart(file: string): Promise<Buffer | null> {
  return buffer(createReadStream(file, { end: MESSAGE_BYTES - 1 })).catch((cause) => {
    if (cause.code === 'ENOENT') return null
    throw cause
  })
}
