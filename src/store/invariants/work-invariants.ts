/** What holds of the program's own work: scans, runs, due times and messages. All of it is answered at once. */

import { sql } from 'kysely'
import { shellCommand } from '../../errors.ts'
import { DOUBTS_MAX } from '../outbox/delivery.ts'
import { type Invariant, READ_ALL, TELL } from './invariant.ts'

export const OF_WORK: readonly Invariant[] = [
  {
    rule: 'a scan under way has as many pages as were written with it, and a place in the list only after the first',
    violations: sql`SELECT 'page ' || scan.pages || ', ' || coalesce(scan.cursor, 'no cursor') AS what
      FROM sync_scan AS scan
      WHERE scan.pages <> (SELECT count(*) FROM sync_scan_page)
        OR scan.pass_pages <> (SELECT count(*) FROM sync_scan_page WHERE pass = scan.pass)
        OR (scan.pass_pages = 0 AND scan.cursor IS NOT NULL)`,
    remedy: TELL,
  },
  {
    rule: 'pages that were read belong to a scan that is under way',
    violations: sql`SELECT page AS what FROM sync_scan_page WHERE NOT EXISTS (SELECT 1 FROM sync_scan)`,
    remedy: TELL,
  },
  {
    rule: 'indexes are put aside only while a sync runs',
    violations: sql`SELECT name AS what FROM sync_dropped_index
      WHERE NOT EXISTS (SELECT 1 FROM lease WHERE name = 'sync' AND expires_at > (SELECT now FROM moment))`,
    remedy: `run ${shellCommand('sync')}: it makes them anew`,
  },
  {
    rule: 'a run that calls its leads whole has read a list that was proven complete',
    violations: sql`SELECT run.id AS what FROM sync_run AS run
      LEFT JOIN sync_scan_verdict AS verdict ON verdict.run_id = run.id
      WHERE run.leads_as_of IS NOT NULL AND verdict.verdict IS DISTINCT FROM 'complete'`,
    remedy: READ_ALL,
  },
  {
    rule: 'of all runs only the last may be without an outcome',
    violations: sql`SELECT id AS what FROM sync_run
      WHERE outcome IS NULL AND rowid < (SELECT max(rowid) FROM sync_run)`,
    remedy: TELL,
  },
  {
    rule: 'the leads of a run are those that it inserted, updated and found unchanged',
    violations: sql`SELECT id AS what FROM sync_run
      WHERE leads_seen <> leads_inserted + leads_updated + leads_unchanged`,
    remedy: TELL,
  },
  {
    rule: 'changes are asked for only since a list that was read to its end',
    violations: sql`SELECT updated_at AS what FROM sync_watermark
      WHERE updated_at <> '' AND NOT EXISTS (SELECT 1 FROM sync_run WHERE leads_as_of IS NOT NULL)`,
    remedy: READ_ALL,
  },
  {
    rule: 'each event that waits to be followed has its place in the queue',
    violations: sql`SELECT id AS what FROM event WHERE done_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM event_queue AS queue WHERE queue.resource = event.resource AND queue.resource_id = event.resource_id)`,
    remedy: READ_ALL,
  },
  {
    rule: 'a due time is being worked on only while the lease of its schedule is held',
    violations: sql`SELECT schedule || ' ' || due_at AS what FROM scheduled_run WHERE state = 'running'
      AND NOT EXISTS (SELECT 1 FROM lease WHERE expires_at > (SELECT now FROM moment) AND name = CASE
        WHEN schedule IN ('sync', 'sync-full') THEN 'sync' WHEN schedule = 'snapshot' THEN 'snapshot-schedule' ELSE schedule END)`,
    remedy: `start ${shellCommand('run')}: it takes up what was left`,
  },
  {
    rule: 'only reports are held',
    violations: sql`SELECT schedule || ' ' || due_at AS what FROM scheduled_run
      WHERE state = 'held' AND schedule NOT LIKE 'report:%'`,
    remedy: TELL,
  },
  {
    rule: 'each message is there, and the one to its recipient',
    violations: sql`SELECT delivery.message_id AS what FROM delivery LEFT JOIN message USING (message_id)
      WHERE head ->> '$.messageId' IS DISTINCT FROM delivery.message_id OR head ->> '$.to' IS DISTINCT FROM recipient`,
    remedy: TELL,
  },
  {
    rule: 'each file that a message carries is there',
    violations: sql`SELECT message.message_id || ' ' || (file.value ->> '$.name') AS what
      FROM message, json_each(message.files) AS file
      WHERE NOT EXISTS (SELECT 1 FROM message_file WHERE sha256 = file.value ->> '$.sha256')`,
    remedy: TELL,
  },
  {
    rule: 'each message that was sent has the answer of the server that took it',
    violations: sql`SELECT message_id AS what FROM delivery WHERE state = 'sent' AND response IS NULL`,
    remedy: TELL,
  },
  {
    rule: 'each message that is to be tried has a time for it, and no other has',
    violations: sql`SELECT message_id AS what FROM delivery WHERE iif(next_attempt_at IS NULL,
      state IN ('pending', 'sending', 'data'), state IN ('sent', 'failed') OR doubts >= ${DOUBTS_MAX})`,
    remedy: TELL,
  },
  {
    rule: 'no message has been leaving for more than ten minutes',
    violations: sql`SELECT message_id AS what FROM delivery
      WHERE state IN ('sending', 'data') AND state_at < (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', now, '-10 minutes') FROM moment)
        AND NOT EXISTS (SELECT 1 FROM lease WHERE holder = sender AND expires_at > (SELECT now FROM moment))`,
    remedy: `start ${shellCommand('run')}, or send the report again: what may have arrived is marked as in doubt`,
  },
]
