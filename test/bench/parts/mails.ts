/**
 * The time from `leadsheet report send` to the last message that a mail server on this machine has accepted.
 */
import Database from 'better-sqlite3'
import { ask } from '../../support/data/publishing.ts'
import { openMailServer } from '../../support/mail-server.ts'
import { clockAt } from '../../support/process/shifted-clock.ts'
import { generateHistory, NOW } from '../history.ts'
import { install } from '../installation.ts'
import type { Part } from '../measurement.ts'

const RECIPIENTS = 1000
const SHORT_RECIPIENTS = 200
/** The number of recipients with the same filter: 50 filters for 1,000. */
const A_FILTER = 20
const COUNTRIES = 20

export const MAILS: Part = {
  subjects: ['mails'],
  async measure({ fewest, isShort }, add) {
    const count = isShort ? SHORT_RECIPIENTS : RECIPIENTS
    process.stderr.write(`${count} mails, ${count / A_FILTER} filters\n`)
    await using server = await openMailServer({
      onData: (stream, _, done) => stream.resume().once('end', () => done()),
    })
    await using installation = await install(`time_zone: Europe/Berlin
api: { url: "http://127.0.0.1:9/", key: nobody-listens-there }
mail: { url: "${server.url}", from: reports@example.com, per_minute: 100000 }
reports: [{ name: daily }]
recipients: ${JSON.stringify(Array.from({ length: count }, (_, number) => recipientOf(number, count / A_FILTER)))}`)
    await generateHistory(installation.database, fewest)
    addSync(installation.database)
    const began = performance.now()
    await installation.run(['report', 'send', 'daily'], clockAt(NOW.toISOString()))
    const seconds = (performance.now() - began) / 1000
    const sent = ask(installation.database, "SELECT 1 FROM delivery WHERE state = 'sent'").length
    if (sent !== count) throw new Error(`mails: found ${sent} sent, expected ${count}`)
    add('mails wall', fewest, (seconds * RECIPIENTS) / count)
    return count === RECIPIENTS ? null : `the time of ${count} mails, as if there were ${RECIPIENTS}`
  },
}

function recipientOf(number: number, filters: number) {
  return {
    address: `reader-${number}@example.com`,
    name: `Reader ${number}`,
    locale: number % 4 === 0 ? 'de-DE' : 'en-GB',
    ...filterOf(number % filters),
  }
}

/** Returns a filter: a country, or a country and its better leads. The first one has all leads. */
function filterOf(number: number) {
  if (number === 0) return {}
  const company_country = [`Country ${number % COUNTRIES}`]
  return { filter: number < COUNTRIES ? { company_country } : { company_country, score: { min: number } } }
}

/** Adds a sync, so that the leads count as completely read. */
function addSync(path: string): void {
  const database = new Database(path)
  const now = NOW.toISOString()
  database
    .prepare(`INSERT INTO sync_run (id, started_at, finished_at, mode, parts, outcome, is_complete, leads_as_of)
      VALUES ('run', ?, ?, 'full', '["leads"]', 'ok', 1, ?)`)
    .run(now, now, now)
  database.close()
}
