/**
 * Letters apart from their state, packed, and the files that they carry once each. What was a JSON text inside
 * `delivery` is taken over; of letters from before it is not known which language they are in, and it was English.
 */
import { deflateSync } from 'node:zlib'
import { type Kysely, sql } from 'kysely'

interface LetterBefore {
  readonly from: string
  readonly replyTo: string | null
  readonly html: string
  readonly text: string
}

/** Foreign keys must be off: `delivery` is made anew. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of TABLES) await statement.execute(db)
  const { rows } = await sql<{ message_id: string }>`SELECT message_id FROM delivery_before`.execute(db)
  for (const { message_id } of rows) await moveLetter(db, message_id)
  await sql`DROP TABLE delivery_before`.execute(db)
}

const TABLES = [
  sql`PRAGMA legacy_alter_table = ON`,
  sql`ALTER TABLE delivery RENAME TO delivery_before`,
  sql`PRAGMA legacy_alter_table = OFF`,

  sql`CREATE TABLE delivery ( -- one row a message to one recipient: how far it is
    message_id TEXT PRIMARY KEY, -- the same for every attempt
    edition_id TEXT NOT NULL REFERENCES report_edition (id),
    recipient TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'data', 'sent', 'failed', 'in_doubt')),
    attempts INTEGER NOT NULL DEFAULT 0,
    doubts INTEGER NOT NULL DEFAULT 0, -- how often it was in doubt: after the second time it is not sent again
    state_at TEXT NOT NULL, -- UTC: when the state was entered
    response TEXT, -- what the mail server said last
    UNIQUE (edition_id, recipient)
  ) STRICT`,
  sql`INSERT INTO delivery SELECT message_id, edition_id, recipient, state, attempts, doubts, state_at, response
    FROM delivery_before`,

  sql`CREATE TABLE letter ( -- one row a message: all of it, so that every attempt sends the same
    message_id TEXT PRIMARY KEY REFERENCES delivery (message_id),
    head TEXT NOT NULL, -- JSON: sender, recipient, subject, date and what else stands above the text
    files TEXT NOT NULL, -- JSON: name, contentType, cid and sha256 (of letter_file) of each file, in their order
    html BLOB NOT NULL, -- UTF-8, packed by zlib
    text BLOB NOT NULL -- UTF-8, packed by zlib
  ) STRICT`,

  sql`CREATE TABLE letter_file ( -- one row a file that letters carry, however many do
    sha256 TEXT PRIMARY KEY, -- of content, hex
    content BLOB NOT NULL
  ) STRICT`,
]

async function moveLetter(db: Kysely<unknown>, messageId: string): Promise<void> {
  const { rows } = await sql<{ letter: string }>`SELECT letter FROM delivery_before
    WHERE message_id = ${messageId}`.execute(db)
  for (const row of rows) {
    const { html, text, ...before }: LetterBefore = JSON.parse(row.letter)
    const unsubscribe = { mailto: before.replyTo ?? before.from, url: null }
    const head = JSON.stringify({ ...before, toName: null, unsubscribe, lang: 'en' })
    await sql`INSERT INTO letter (message_id, head, files, html, text)
      VALUES (${messageId}, ${head}, '[]', ${deflateSync(html)}, ${deflateSync(text)})`.execute(db)
  }
}
