/** Checks a PostgreSQL server: its version, encoding, rights and clock. */

import { type CheckResult, fail, ok, warn } from '../../checks/check.ts'
import { readServerFacts } from '../../store/db/postgres.ts'
import type { Db } from '../../store/db/store.ts'
import { tellSpan } from '../../time.ts'

// The oldest major version that leadsheet is tested with.
const MAJOR_LEAST = 14
// Workers on several machines share leases and due times, so their clocks must nearly agree.
const CLOCK_APART_MAX_MS = 5_000

const UTF8 = 'UTF8'

export async function* checkServer(db: Db): AsyncGenerator<CheckResult> {
  const askedAtMs = Date.now()
  const { version, major, encoding, mayCreate, now } = await readServerFacts(db)
  // The server read its clock about half-way between the question and the answer.
  const aheadMs = (askedAtMs + Date.now()) / 2 - now.getTime()
  const found = `PostgreSQL ${version}, ${encoding}`
  if (encoding !== UTF8)
    yield fail('server', found, `make a database WITH ENCODING '${UTF8}', and name that in database_url`)
  else if (major < MAJOR_LEAST)
    yield warn('server', found, `leadsheet is tried with PostgreSQL ${MAJOR_LEAST} and later`)
  else yield ok('server', found)
  if (!mayCreate) {
    yield warn(
      'rights',
      'the user may not make tables in the schema, which the next version of leadsheet may have to',
      'GRANT CREATE ON SCHEMA … TO the user, or make it the owner',
    )
  }
  const clock = `${tellSpan(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the database`
  yield Math.abs(aheadMs) <= CLOCK_APART_MAX_MS
    ? ok('database clock', clock)
    : warn('database clock', `our clock is ${clock}`, 'let all machines set their clocks by NTP')
}
