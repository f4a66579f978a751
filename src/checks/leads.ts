/** Checks what the syncs read: missing leads, changed fields, unreadable records. */
import { shellCommand } from '../errors.ts'
import { counted } from '../report/words/numbers.ts'
import { countUnfit, formatUnfit } from '../store/leads/declared-fields.ts'
import { countQuarantinedSince } from '../store/leads/quarantined-record.ts'
import { listDrift } from '../store/sync/schema-drift.ts'
import {
  type CompleteFullScan,
  listCompleteFullScans,
  listWarningsOfChanges,
} from '../store/sync/watermark.ts'
import { formatUtc, minutesBefore } from '../time.ts'
import { ALERTED, type Check, type Facts, type Finding, internal, SHOWN } from './check.ts'

const DAY_MINUTES = 24 * 60
/** Two scans that both found fewer leads are not compared, because small numbers often halve or double. */
const LEADS_LEAST = 50
const OF_UPSTREAM = { ...ALERTED, part: 'upstream' } as const

export const LEAD_CHECKS = {
  deletions_refused: {
    ...OF_UPSTREAM,
    title: 'mass deletion refused',
    meaning: 'more than a fifth of the leads were missing from a complete scan; none was marked as deleted',
    find: async ({ db }) => findRefused((await listCompleteFullScans(db, 1))[0]),
  },
  counts_unusual: {
    ...OF_UPSTREAM,
    title: 'unusual number of leads',
    meaning: 'a scan found less than half, or more than twice, as many leads as before',
    alert: 'once',
    async find({ db }) {
      const [scan, before] = await listCompleteFullScans(db, 2)
      return findRefused(scan).length > 0 ? [] : findUnusual(scan, before)
    },
  },
  filter_wrong: {
    ...OF_UPSTREAM,
    title: 'wrong filter of changes',
    meaning: 'a list of changes lacked a lead, so each sync reads the whole list',
    find: async ({ db }) => findFilterWarning(await listWarningsOfChanges(db)),
  },
  fields_changed: {
    ...OF_UPSTREAM,
    title: 'fields changed',
    meaning: 'a field has disappeared from the records, or its type has changed',
    alert: 'once',
    find: findChangedFields,
  },
  fields_unfit: {
    ...SHOWN,
    part: 'upstream',
    title: 'values of another type',
    meaning: 'values of a declared field do not fit its type, so that they are kept as null',
    async find({ db }) {
      return (await countUnfit(db)).map(
        (unfit): Finding => ({
          subject: unfit.name,
          message: `The field ${formatUnfit(unfit)}.`,
          hint: `Correct fields.${unfit.name} of the profile; the records are then mapped again.`,
        }),
      )
    },
  },
  records_quarantined: {
    ...ALERTED,
    part: 'quarantined records',
    title: 'records quarantined',
    meaning: 'records of the last day cannot be mapped',
    find: findQuarantined,
  },
} as const satisfies Record<string, Check>

function findFilterWarning(warnings: readonly string[]): Finding[] {
  return warnings
    .filter((warning) => warning.startsWith('filters.updated_since '))
    .flatMap((message) =>
      internal(
        message,
        `${shellCommand('doctor')} asks the upstream; correct filters.updated_since of the profile, or leave it out.`,
        { brief: 'a list of changes was without a known change' },
      ),
    )
}

function findRefused(scan: CompleteFullScan | undefined): Finding[] {
  if (scan === undefined || scan.heldBack === 0) return []
  const of = (scan.leads + scan.heldBack).toLocaleString('en')
  return internal(
    `${scan.heldBack.toLocaleString('en')} of ${of} leads were missing from the last whole scan: taken for a fault of the upstream, none is marked as deleted.`,
    `Look at the upstream. If they are really deleted, confirm it: ${shellCommand('sync --full --accept-deletions')}.`,
  )
}

function findUnusual(scan: CompleteFullScan | undefined, before: CompleteFullScan | undefined): Finding[] {
  if (scan === undefined || before === undefined) return []
  if (Math.max(scan.leads, before.leads) < LEADS_LEAST) return []
  if (scan.leads >= before.leads / 2 && scan.leads <= before.leads * 2) return []
  return internal(
    `The last whole scan met ${scan.leads.toLocaleString('en')} leads, the one before ${before.leads.toLocaleString('en')}.`,
    'Look at the upstream, and whether the key still sees the same leads.',
  )
}

async function findChangedFields({ db, now }: Facts): Promise<Finding[]> {
  const drift = await listDrift(db, minutesBefore(now, DAY_MINUTES))
  const found = drift
    .filter(({ change }) => change !== 'new')
    .map(({ change, path, types, at }): Finding => {
      const what =
        change === 'vanished' ? 'is in no record any longer' : `is now also of the type ${types.join(', ')}`
      return {
        subject: path,
        message: `The field ${path} ${what}, as of ${formatUtc(at)}.`,
        hint: `Look at the upstream; if the field is called otherwise now, correct the mapping of the profile (${shellCommand('doctor')} names what is not mapped).`,
      }
    })
  // Only the newest change of each field is reported.
  return [...new Map(found.toReversed().map((finding) => [finding.subject, finding])).values()]
}

async function findQuarantined({ db, now }: Facts): Promise<Finding[]> {
  return (await countQuarantinedSince(db, minutesBefore(now, DAY_MINUTES))).map(
    ({ resource, records, reason }) => {
      const brief = `${counted(records, `${resource.replace('_', ' ')} record`)} of the last day cannot be read`
      const hint =
        'They are kept whole in the table quarantined_record; correct the mapping of the profile, and they are read again.'
      return { subject: resource, message: `${brief}: ${reason}`, brief, hint }
    },
  )
}
