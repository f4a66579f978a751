// @both-stores
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { CompiledQuery, sql } from 'kysely'
import { expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { findViolations, INVARIANTS, invariantsOf } from '../../../src/store/invariants/invariants.ts'
import { storeDerivedVersions } from '../../../src/store/leads/lead-version.ts'
import { openStore } from '../../../src/store/open.ts'
import { folderWith } from '../../support/folder.ts'
import { IN_POSTGRES, lead, openPreparedStore, save } from '../../support/store.ts'
import { openSyncing } from '../../support/syncing.ts'
import { startUpstream } from '../../support/upstream.ts'

/** This rule is broken by hand. */
const INTACT = 'the file is intact'
const NOW = '2026-11-21T06:00:00.000Z'
const LONG_AGO = '2026-11-21T05:49:00.000Z'

const A_RUN = `INSERT INTO sync_run (id, started_at, mode, parts, outcome) VALUES ('run-x', '${NOW}', 'full', '[]', 'ok');`
const A_SCAN = `INSERT INTO sync_scan (resource, mode, profile_sha256, is_remap, started_at, progress_at, page_size, pages, pass_pages)
  VALUES ('lead', 'full', '', 0, '${NOW}', '${NOW}', 100, 2, 1);`
const AN_ISSUE = `INSERT INTO report_issue (id, report, period_from, period_to, time_zone, rendered_at, figures, subject, html, text)
  VALUES ('e', 'daily', '', '', 'UTC', '', '{}', '', '', '');`
const message = (
  state: string,
  change: { head?: string; files?: string; tried?: string; response?: string } = {},
): string => `
  ${AN_ISSUE} INSERT INTO delivery (message_id, issue_id, recipient, state, queued_at, state_at, next_attempt_at, response)
  VALUES ('m', 'e', 'ana', '${state}', '${LONG_AGO}', '${LONG_AGO}', ${change.tried ?? `'${NOW}'`}, ${change.response ?? 'NULL'});
  INSERT INTO message VALUES ('m', '${change.head ?? '{"messageId":"m","to":"ana"}'}', '${change.files ?? '[]'}', x'', x'');`

const scheduledRun = (schedule: string, state: string): string =>
  `INSERT INTO scheduled_run (schedule, due_at, state, noted_at) VALUES ('${schedule}', '${NOW}', '${state}', '${NOW}');`

/** Inserts a version of a lead once more, with these times. */
const anotherVersion = (times: string): string => {
  const same = `changed_at, status_changed_at, observed_at, run_id, pipeline_id, status, score, value_amount,
    value_currency, agent_id`
  return `INSERT INTO lead_history (lead_id, valid_from, valid_to, ${same})
    SELECT lead_id, ${times}, ${same} FROM lead_history LIMIT 1;`
}

const WITHOUT_LEAD = 'DELETE FROM lead WHERE no = 3;'
const WITHOUT_RUN = `UPDATE sync_scan_result SET run_id = 'gone' WHERE run_id = (SELECT min(id) FROM sync_run);`
/** Statements that PostgreSQL refuses, because it keeps the references itself. */
const OF_FILES = [WITHOUT_LEAD, WITHOUT_RUN]

/** Statements that break each rule, by rule. */
const BREAKS: Readonly<Record<string, readonly string[]>> = {
  'a scan under way has as many pages as were written with it, and a place in the list only after the first':
    [
      A_SCAN,
      `${A_SCAN} INSERT INTO sync_scan_page VALUES (0, 1, '[]'), (1, 2, '[]'); UPDATE sync_scan SET pass = 3;`,
      `${A_SCAN} UPDATE sync_scan SET pages = 0, pass_pages = 0, cursor = 'next';`,
    ],
  'pages that were read belong to a scan that is under way': [
    `INSERT INTO sync_scan_page VALUES (0, 1, '[]');`,
  ],
  'indexes are put aside only until a sync is complete': [
    `INSERT INTO sync_dropped_index VALUES ('lead_by_state', '');`,
  ],
  'a run that calls its leads whole has read a list that was proven complete': [
    `UPDATE sync_scan_result SET result = 'unproven';`,
    'DELETE FROM sync_scan_result;',
  ],
  'of all runs only the last may be without an outcome': [`UPDATE sync_run SET outcome = NULL; ${A_RUN}`],
  'the leads of a run are those that it inserted, updated and found unchanged': [
    'UPDATE sync_run SET leads_seen = leads_seen + 1;',
  ],
  'changes are asked for only since a list that was read to its end': [
    'UPDATE sync_run SET leads_as_of = NULL;',
  ],
  'each event that waits to be followed has its place in the queue': [
    `INSERT INTO event (id, received_at, resource, resource_id) VALUES ('e', '${NOW}', 'lead', 'l');
     INSERT INTO event_queue (resource, resource_id, asked_at, last_at, events, is_deletion, failures)
       VALUES ('pipeline', 'l', '${NOW}', '${NOW}', 1, 0, 0);`,
  ],
  'a scheduled run is being worked on only while the lease of its schedule is held': [
    scheduledRun('sync-full', 'running'),
    `${scheduledRun('report:daily', 'running')}
     INSERT INTO lease VALUES ('report:daily', 'h', 'host', 1, '${LONG_AGO}', '${LONG_AGO}');`,
    `${scheduledRun('report:daily', 'running')}
     INSERT INTO lease VALUES ('sync', 'h', 'host', 1, '${NOW}', '9999');`,
  ],
  'only reports are held': [scheduledRun('sync', 'held')],
  'each message is there, and the one to its recipient': [
    message('pending', { head: '{"messageId":"m","to":"ben"}' }),
    message('pending', { head: '{"messageId":"n","to":"ana"}' }),
    `${message('pending')} DELETE FROM message;`,
  ],
  'each file that a message carries is there': [
    message('pending', { files: '[{"name":"trend.png","sha256":"3f2a"}]' }),
  ],
  'each message that was sent has the answer of the server that took it': [
    message('sent', { tried: 'NULL' }),
  ],
  'each message that is to be tried has a time for it, and no other has': [
    message('pending', { tried: 'NULL' }),
    message('sent', { response: `'250 Ok'` }),
  ],
  'no message has been leaving for more than ten minutes': [message('sending'), message('data')],
  'each reference finds its row': [WITHOUT_LEAD, WITHOUT_RUN],
  'a lead that is there has one open version, a deleted one none': [
    `UPDATE lead_history SET valid_to = '2027' WHERE lead_id = (SELECT id FROM lead WHERE no = 3);`,
    anotherVersion(`'2027', valid_to`),
    `UPDATE lead SET deleted_at = '${NOW}' WHERE no = 3;`,
  ],
  'a lead with a derived version has no stored one': [
    `UPDATE lead_history SET valid_to = '2027' WHERE lead_id = (SELECT id FROM lead WHERE no = 3);
     UPDATE lead SET derived_version = 1 WHERE no = 3;`,
  ],
  'the open version says what the lead is': [
    `UPDATE lead SET status = 'other' WHERE no = 3;`,
    'UPDATE lead SET score = 101 WHERE no = 3;',
    `UPDATE lead_history SET agent_id = 'nobody' WHERE lead_id = (SELECT id FROM lead WHERE no = 3);`,
  ],
  'the versions of a lead follow one another and never overlap': [
    `UPDATE lead_history SET valid_to = '1970' WHERE lead_id = (SELECT id FROM lead WHERE no = 3);`,
    anotherVersion(`'2020', '2999'`),
  ],
  'a lead is deleted while its last deletion lasts, and only then': [
    `INSERT INTO lead_deletion SELECT id, '${NOW}', NULL, 'run' FROM lead LIMIT 1;`,
    `UPDATE lead SET deleted_at = '${NOW}' WHERE no = 3;`,
  ],
  'a deleted lead is not among the missing leads any more': [
    `UPDATE lead SET deleted_at = '${NOW}' WHERE no = 3;
     INSERT INTO missing_lead SELECT id, 'run', '${NOW}' FROM lead WHERE no = 3;`,
  ],
  'a move leads from one status to another, and not before it was entered': [
    `INSERT INTO stage_move SELECT id, '${NOW}', 'won', 'won', 'p', NULL, NULL, 'version', '${NOW}' FROM lead LIMIT 1;`,
    `INSERT INTO stage_move SELECT id, '${LONG_AGO}', 'won', 'new', 'p', '${NOW}', -1, 'version', '${NOW}' FROM lead LIMIT 1;`,
  ],
  'each lead has the record that it was read from': ['DELETE FROM lead_raw WHERE lead_no = 3;'],
  'a deleted lead is not known again by its bytes, but read anew': [
    `UPDATE lead SET deleted_at = '${NOW}' WHERE no = 3;`,
  ],
  'details are there of each lead that was asked for without a failure, and of none that never was': [
    `INSERT INTO detail_request VALUES (3, '${NOW}', NULL, 0, NULL);`,
    `INSERT INTO lead_detail (lead_id, fetched_at, lead_updated_at, run_id, raw)
       SELECT id, '${NOW}', updated_at, run_id, '{}' FROM lead WHERE no = 3;`,
  ],
  'each lead is in a pipeline that is known': [`UPDATE lead SET pipeline_id = 'nowhere' WHERE no = 3;`],
  'each stored state has how far its lead had come by its statuses and moves': [
    'UPDATE lead_history SET reached = reached + 1;',
  ],
  'the counts of leads by day are those of their states': [
    'UPDATE lead_day SET leads = leads + 1 WHERE leads > 0;',
    'UPDATE lead_day SET value_amount = value_amount + 1;',
    'DELETE FROM lead_day;',
    `INSERT INTO lead_day VALUES ('2026-11-20', 'nowhere', 'won', '', 1, 0, 1, 1, 0);`,
    'UPDATE lead_day SET entered = entered + 1;',
  ],
  'every lead that the last complete scan met is there': [
    'UPDATE sync_scan_result SET distinct_leads = distinct_leads + 1;',
    WITHOUT_LEAD,
  ],
}

/** Fills a store with leads that were read three times. */
async function makeHealthy(at: string): Promise<void> {
  await using upstream = await startUpstream(8)
  await using syncing = await openSyncing(upstream.url, 'test-key', { store: at })
  for (let day = 0; day < 3; day++) await syncing.sync({ full: true, parts: ['leads'] })
  await syncing.store.write((trx) => storeDerivedVersions(trx, [...upstream.leads.keys()]))
}

/** Returns what is found wrong after statements, which are taken back. References are not kept in a file. */
async function violationsAfter(store: Store, statements: string) {
  let found: Awaited<ReturnType<typeof findViolations>> = []
  const done = new Error('taken back')
  const trying = store.db.transaction().execute(async (trx) => {
    for (const one of statements.split(';').filter((each) => /\w/.test(each)))
      await trx.executeQuery(CompiledQuery.raw(IN_POSTGRES ? one.replaceAll("x''", "''") : one))
    found = await findViolations(trx, NOW, 'all')
    throw done
  })
  await expect(trying).rejects.toBe(done)
  return found
}

it('the rules of the store hold where nothing went wrong, and each tells when it is broken', async () => {
  await using store = await openPreparedStore('healthy', makeHealthy)
  expect(await findViolations(store.db, NOW, 'all')).toEqual([])
  if (!IN_POSTGRES) await sql`PRAGMA foreign_keys = OFF`.execute(store.db)
  const broken = new Set<string>()
  for (const [rule, breaks] of Object.entries(BREAKS)) {
    // PostgreSQL itself keeps the references.
    for (const statements of breaks.filter((each) => !IN_POSTGRES || !OF_FILES.includes(each))) {
      const found = await violationsAfter(store, statements)
      const violation = found.find((one) => one.rule === rule)
      expect(violation, `${rule}: ${JSON.stringify(found)}`).toMatchObject({
        count: expect.any(Number),
        remedy: expect.stringMatching(/\w/),
      })
      expect(violation?.examples[0]).toMatch(/\S/)
      broken.add(rule)
    }
  }
  expect([INTACT, ...Object.keys(BREAKS)]).toEqual(INVARIANTS.map((invariant) => invariant.rule))
  const rules = invariantsOf(store.db).map((invariant) => invariant.rule)
  expect(broken).toEqual(new Set(rules.filter((rule) => rule !== INTACT)))
})

it.skipIf(IN_POSTGRES)('they tell of a file that is not intact', async () => {
  const file = join(folderWith(), 'leadsheet.db')
  await using healthy = await openStore(file, new Date(NOW))
  await save(healthy, [lead('1', { updatedAt: NOW }), lead('2', { updatedAt: LONG_AGO })])
  await healthy.close()
  const raw = new Database(file)
  raw.unsafeMode()
  raw.exec(`PRAGMA writable_schema = ON;
     UPDATE sqlite_schema SET sql = replace(sql, 'created_at', 'updated_at') WHERE name = 'lead_by_creation';
     PRAGMA schema_version = 4711`)
  raw.close()
  await using store = await openStore(file, new Date(NOW))
  expect((await findViolations(store.db, NOW, 'all')).map(({ rule }) => rule)).toEqual([INTACT])
})
