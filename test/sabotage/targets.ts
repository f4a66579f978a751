/** The functions that keep a promise, each with the tests of which one must notice when it is broken. */
export interface Target {
  readonly file: string
  /** The function, or the constant at the top of the file; empty for a template. */
  readonly of: string
  /** Files or folders of tests. */
  readonly tests: readonly string[]
}

type Row = readonly [of: string, ...tests: string[]]

const TARGETS: Readonly<Record<string, readonly Row[]>> = {
  'src/checks/events.ts': [['listComparableSyncs', 'test/checks/stopped-events.test.ts']],
  'src/cli/init/files.ts': [['write', 'test/cli/init/init.test.ts']],
  'src/config/merge.ts': [['readSecret', 'test/config']],
  'src/domain/period.ts': [['priorOf', 'test/domain/period.test.ts']],
  'src/insight/normal-range.ts': [['correctedMiss', 'test/insight']],
  'src/insight/record.ts': [['isTrusted', 'test/insight']],
  'src/jobs/alerts/alert-state.ts': [['isToBeAnnounced', 'test/jobs/alerts/alert-state.test.ts']],
  'src/jobs/events/webhook-registration.ts': [
    ['saveRegistration', 'test/jobs/events/register-webhook.test.ts'],
  ],
  'src/jobs/outbox/apply-notification.ts': [
    ['takeNotification', 'test/jobs/outbox/read-bounces.test.ts', 'test/crash/outbox/bounces.test.ts'],
  ],
  'src/jobs/outbox/message-retry.ts': [['moveAfterFailure', 'test/jobs/outbox/delivery-failures.test.ts']],
  'src/jobs/outbox/send-batch.ts': [
    ['sendOne', 'test/jobs/outbox/send-due.test.ts', 'test/crash/outbox/outbox.test.ts'],
  ],
  'src/jobs/outbox/send-due.ts': [['deliverDue', 'test/jobs/outbox']],
  'src/jobs/reports/freshness-gate.ts': [['judge', 'test/jobs/reports/freshness-gate.test.ts']],
  'src/jobs/reports/preferences.ts': [
    ['changePreferenceIn', 'test/jobs/reports', 'test/web/preferences.test.ts'],
  ],
  'src/jobs/schedule/note-due-runs.ts': [
    ['noteScheduledRuns', 'test/jobs/schedule/catch-up.test.ts', 'test/jobs/schedule/daemon.test.ts'],
  ],
  'src/jobs/schedule/run-scheduled.ts': [['runScheduledRun', 'test/jobs/schedule/daemon.test.ts']],
  'src/jobs/snapshot/encode-text.ts': [
    ['harmlessText', 'test/jobs/snapshot/encode.test.ts', 'test/jobs/reports/hostile-files.test.ts'],
  ],
  'src/jobs/sync/map-page.ts': [['mapRecords', 'test/jobs/sync/sync-scan.test.ts']],
  'src/jobs/sync/scan-result.ts': [
    ['DOUBTS', 'test/jobs/sync/sync-scan.test.ts', 'test/jobs/sync/hidden-rows.test.ts'],
  ],
  'src/jobs/sync/sync-leads.ts': [
    ['storePage', 'test/jobs/sync/run-sync.test.ts', 'test/crash/power.test.ts'],
  ],
  'src/login/oauth-keys.ts': [['openOAuthKeys', 'test/login/oauth-keys.test.ts']],
  'src/login/token-file.ts': [
    ['shareToken', 'test/login/oauth-keys.test.ts', 'test/login/processes.test.ts'],
  ],
  'src/mail/bounce/read-notification.ts': [['isBySystem', 'test/mail/bounce/read-notification.test.ts']],
  'src/mail/http/vendor.ts': [['blameOf', 'test/mail/http']],
  'src/mail/mail-url.ts': [['mailServerOf', 'test/mail/smtp.test.ts', 'test/mail/credentials.test.ts']],
  'src/mail/message.ts': [['readLink', 'test/mail/link-token.test.ts']],
  'src/mail/sending.ts': [['withToken', 'test/mail/token-login.test.ts', 'test/mail/http']],
  'src/mail/smtp.ts': [['serverOf', 'test/mail/smtp.test.ts']],
  'src/main.ts': [['main', 'test/faults/canary.test.ts', 'test/cli/frame.test.ts']],
  'src/redaction.ts': [
    [
      'redactor',
      'test/upstream/client/retrying-client.test.ts',
      'test/log.test.ts',
      'test/faults/quoted-secrets.test.ts',
    ],
  ],
  'src/report/blocks/headline/view.ts': [['judge', 'test/jobs/reports/freshness-gate.test.ts']],
  'src/report/compose-report.ts': [['composeBlock', 'test/jobs/reports/freshness-gate.test.ts']],
  'src/schedule/scheduled-runs.ts': [['nextOfDay', 'test/schedule/scheduled-runs.test.ts']],
  'src/schedule/timing.ts': [['isAt', 'test/schedule']],
  'src/schedule/zone.ts': [['instantOf', 'test/schedule/scheduled-runs.test.ts']],
  'src/service/http/server.ts': [['answerOnce', 'test/service/pipelines.test.ts']],
  'src/service/open.ts': [['openService', 'test/faults/webhooks-out.test.ts']],
  'src/service/webhooks/sender.ts': [
    ['createWebhookSender', 'test/service/webhooks/webhook-sending.test.ts'],
  ],
  'src/store/backup/upgrade.ts': [
    ['hasData', 'test/store/backup/upgrade.test.ts'],
    ['upgradeAlone', 'test/store/backup/upgrade.test.ts'],
  ],
  'src/store/db/postgres.ts': [['checkNoCrash', 'test/crash/postgres/postgres-crashes.test.ts']],
  'src/store/events/event.ts': [['mayApplyEvents', 'test/jobs/events/event-worker.test.ts']],
  'src/store/figures/breakdown.ts': [['readBySource', 'test/store/figures']],
  'src/store/leads/lead-row.ts': [['isOlder', 'test/store/leads/lead-version.test.ts']],
  'src/store/leads/lead.ts': [['saveLeads', 'test/jobs/sync/moved-back.test.ts']],
  'src/store/outbox/delivery.ts': [['isAnyOnItsWay', 'test/jobs/outbox/send-due.test.ts']],
  'src/store/outbox/message-resolve.ts': [
    ['withdrawIfUnwanted', 'test/store/reports/preference.test.ts', 'test/jobs/reports/preferences.test.ts'],
  ],
  'src/store/schedule/lease.ts': [
    ['insertLease', 'test/store/schedule/lease.test.ts', 'test/crash/daemon/two-instances.test.ts'],
    ['renewalOf', 'test/jobs/outbox/send-due.test.ts', 'test/crash/daemon/two-instances.test.ts'],
  ],
  'src/store/snapshot/snapshot.ts': [['MODE_FOR_GROUP', 'test/jobs/snapshot/publish-snapshot.test.ts']],
  'src/store/sync/scan.ts': [
    [
      'startPass',
      'test/store/invariants/invariants.test.ts',
      'test/jobs/sync/sync-scan.test.ts',
      'test/jobs/sync/hidden-rows.test.ts',
    ],
  ],
  'src/store/sync/soft-delete.ts': [['findMass', 'test/jobs/sync/accept-deletions.test.ts']],
  'src/store/sync/watermark.ts': [
    ['findLastUpdate', 'test/jobs/sync/run-sync.test.ts', 'test/jobs/sync/sync-scan.test.ts'],
  ],
  'src/upstream/client/answer.ts': [
    ['readAnswer', 'test/faults/quoted-secrets.test.ts'],
    ['readBody', 'test/faults/size.test.ts'],
  ],
  'src/upstream/client/request.ts': [['pathStep', 'test/upstream/client/request.test.ts']],
  'src/upstream/client/retrying-client.ts': [
    ['createClient', 'test/upstream/client/retrying-client.test.ts', 'test/faults/certificate.test.ts'],
  ],
  'src/upstream/mapping/lead-mapping.ts': [['mapLead', 'test/upstream/mapping']],
  'src/upstream/paging/paging.ts': [['nextPosition', 'test/upstream/paging']],
  'src/upstream/paging/search-chain.ts': [['chainSearches', 'test/upstream/paging/search-chain.test.ts']],
  'src/upstream/webhooks/read-events.ts': [['readEvent', 'test/faults/webhook-in.test.ts']],
  'src/upstream/webhooks/verify-signature.ts': [['whyRefused', 'test/faults/webhook-in.test.ts']],
  'src/web/auth/session.ts': [['createSessions', 'test/web/auth/sign-in.test.ts']],
  'src/web/auth/sign-in.ts': [
    ['checkForms', 'test/web/auth/sign-in.test.ts'],
    ['meetLooker', 'test/web/auth/sign-in.test.ts'],
  ],
  'src/web/preferences.ts': [['preferenceRoutes', 'test/web/preferences.test.ts']],
  'src/web/server/headers.ts': [['createAllowedHosts', 'test/web/auth/sign-in.test.ts']],
  'templates/dashboard/issue.hbs': [['', 'test/web/dashboard/archive.test.ts']],
  'templates/layout/lead.html.hbs': [
    ['', 'test/report/render/templates.test.ts', 'test/look/hostile.test.ts'],
  ],
}

export function listTargets(): Target[] {
  return Object.entries(TARGETS).flatMap(([file, rows]) =>
    rows.map(([of, ...tests]) => ({ file, of, tests })),
  )
}
