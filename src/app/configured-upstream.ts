/** Opens the configured upstream (the API that leads are read from), and returns the settings of a sync. */
import { type Config, requireApi, secretsOf } from '../config/config.ts'
import { eventSecrets } from '../config/schema-web.ts'
import type { ProfileData } from '../config/settings-file.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { registrationFile, watchSecrets } from '../jobs/events/webhook-registration.ts'
import { SYNC_PARTS } from '../jobs/sync/run-sync.ts'
import type { SyncOptions } from '../jobs/sync/sync-context.ts'
import type { Log } from '../log.ts'
import { withoutNamedSecrets } from '../redaction.ts'
import { endpointUrl, hasEndpoint } from '../upstream/client/request.ts'
import { listOverwritten } from '../upstream/profile/overwritten.ts'
import { type Profile, parseProfile, sendsKey } from '../upstream/profile/profile.ts'
import { REFERENCE_PROFILE } from '../upstream/profile/reference-profile.ts'
import { openSource, type Source, type SourceOptions } from '../upstream/source.ts'
import { MAX_WAIT_MS, openKeysOf, proxyOf } from './configured-login.ts'

/** The maximum number of requests for details of leads at the same time. */
const DETAILS_AT_ONCE = 8

/**
 * Opens the upstream; the caller closes it.
 * @param options.backoff the waits between the tries of a request. They are shorter if a person waits.
 * @throws LeadsheetError config_missing, config_invalid
 */
export function openSourceOf(config: Config, log: Log, options: Pick<SourceOptions, 'backoff'> = {}): Source {
  const profile = profileOf(config)
  const { url } = requireApi(config, needsKey(profile))
  const webhookSecrets = webhookSecretsOf(config)
  return openSource({
    baseUrl: url,
    apiKey: openKeysOf(config, log, options),
    secret: config.api.secret?.reveal(),
    profile,
    maxWaitMs: MAX_WAIT_MS,
    log,
    proxy: proxyOf(config),
    otherSecrets: () => [...secretsOf(config), ...webhookSecrets()],
    ...options,
  })
}

/** @throws LeadsheetError config_invalid */
export function profileOf({ api: { profile, url, secret } }: Config): Profile {
  const read = profileFrom(profile)
  refuseOtherSecret(read, secret !== null)
  if (url !== null && hasEndpoint(read, 'leads'))
    refuseOverwriting(read, endpointUrl(url, read, 'leads'), profile)
  return read
}

/** A profile without a place for the second secret would never send it, and one with a place needs it. */
function refuseOtherSecret({ auth }: Profile, isSet: boolean): void {
  const texts = auth === 'none' ? [] : [auth.value, ...Object.values(auth.headers)]
  if (texts.some((text) => text.includes('{secret}')) === isSet) return
  throw isSet
    ? new LeadsheetError('config_invalid', 'api.secret is set, but auth of the profile has no {secret}', {
        hint: 'Write {secret} into a header of the profile, such as auth.headers, or take api.secret away.',
      })
    : new LeadsheetError(
        'config_missing',
        'auth of the profile has {secret}, but api.secret (LEADSHEET_API_SECRET) is not set',
        { hint: 'Set api.secret_file to the file that holds it.' },
      )
}

function refuseOverwriting(profile: Profile, list: URL, data: ProfileData | null): void {
  const lines = listOverwritten(profile, list).map(({ path, param, found }) => {
    const place = data?.nameOf([...path], 'value') ?? path.join('.')
    return `${place}: sets ${param}, but the address of the list has ${withoutNamedSecrets(found)} already`
  })
  if (lines.length === 0) return
  throw new LeadsheetError('config_invalid', `The profile has mistakes:\n${lines.join('\n')}`, {
    hint: 'Take the parameter out of the address (api.url, or endpoints.leads of the profile), or out of the other part. A filter by time may have both in its value: `value: "(status eq \'lead\') and (modified ge {value})"`.',
  })
}

/**
 * If `profile` is null, returns the profile of the reference service. Throws LeadsheetError config_invalid.
 */
export function profileFrom(profile: ProfileData | null): Profile {
  if (profile === null) return REFERENCE_PROFILE
  if (profile.problem === null) return parseProfile(profile.data, profile.nameOf)
  throw new LeadsheetError('config_invalid', `The profile ${profile.origin} ${profile.problem}`, {
    hint: `${shellCommand('probe URL -o FILE')} makes one; api.profile (LEADSHEET_API_PROFILE) names it.`,
  })
}

export function needsKey(profile: Profile): boolean {
  return sendsKey(profile.auth)
}

// Each sync begins to read this long before the last known change, because some services write late.
const OVERLAP_MS = 10 * 60_000

/** Aborted by the given signal, or when the sync has run for `api.run_minutes`. */
export function syncOptions(config: Config, signal: AbortSignal): SyncOptions {
  return {
    full: false,
    parts: SYNC_PARTS,
    pageSize: config.api.pageSize,
    overlapMs: OVERLAP_MS,
    pipelineIds: config.sync.pipelines,
    sources: config.sources,
    ...(config.enrichment && { details: { ...config.enrichment, concurrency: DETAILS_AT_ONCE } }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(config.api.runMinutes * 60_000)]),
  }
}

/** The known secrets of webhooks, so that logs and errors hide them, also those that another process stores later. */
export function webhookSecretsOf({ dataDir, events }: Config): () => readonly string[] {
  // An unreadable file is ignored here, because the code that needs its content reports the error.
  return watchSecrets(registrationFile(dataDir), eventSecrets(events.secret), () => undefined)
}
