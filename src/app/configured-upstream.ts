/** Opens the configured upstream (the API that leads are read from), and returns the settings of a sync. */
import type { Config } from '../config/config.ts'
import { proxySecretsOf, requireApi } from '../config/config.ts'
import { readSecret } from '../config/merge.ts'
import { eventSecrets } from '../config/schema-web.ts'
import type { ProfileData } from '../config/settings-file.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { registrationFile, watchSecrets } from '../jobs/events/webhook-registration.ts'
import { SYNC_PARTS } from '../jobs/sync/run-sync.ts'
import type { SyncOptions } from '../jobs/sync/sync-context.ts'
import type { Log } from '../log.ts'
import type { ProxySettings } from '../proxy.ts'
import { withoutNamedSecrets } from '../redaction.ts'
import { endpointUrl, hasEndpoint } from '../upstream/client/request.ts'
import { listOverwritten } from '../upstream/profile/overwritten.ts'
import type { Profile } from '../upstream/profile/profile.ts'
import { parseProfile, sendsKey } from '../upstream/profile/profile.ts'
import { REFERENCE_PROFILE } from '../upstream/profile/reference-profile.ts'
import type { Source, SourceOptions } from '../upstream/source.ts'
import { openSource } from '../upstream/source.ts'

/** The longest wait that a run accepts from the upstream (Retry-After). A longer one defers the run. */
export const MAX_WAIT_MS = 60_000
/** The maximum number of requests for details of leads at the same time. */
const DETAILS_AT_ONCE = 8

/**
 * Opens the upstream; the caller closes it.
 * @param options.backoff the waits between the tries of a request. They are shorter if a person waits.
 * @throws LeadsheetError config_missing, config_invalid
 */
export function openSourceOf(config: Config, log: Log, options: Pick<SourceOptions, 'backoff'> = {}): Source {
  const profile = profileOf(config)
  const { url, key } = requireApi(config, needsKey(profile))
  const webhookSecrets = webhookSecretsOf(config)
  return openSource({
    baseUrl: url,
    apiKey: key?.reveal() ?? '',
    readKey: () => readKeyAgain(config),
    profile,
    maxWaitMs: MAX_WAIT_MS,
    log,
    proxy: proxyOf(config),
    otherSecrets: () => [...proxySecretsOf(config), ...webhookSecrets()],
    ...options,
  })
}

/** Returns the proxies of the environment in clear. Their URLs may contain a login and must never be shown. */
export function proxyOf({ proxy: { http, https, except } }: Config): ProxySettings {
  return { http: http?.reveal() ?? null, https: https?.reveal() ?? null, except }
}

/** Returns the key that `api.key_file` has now, which another program may have rotated; null without one. */
function readKeyAgain({ keyFile }: Config): string | null {
  const read = keyFile === null ? null : readSecret(keyFile)
  return read !== null && 'value' in read ? read.value : null
}

/** @throws LeadsheetError config_invalid */
export function profileOf({ api: { profile, url } }: Config): Profile {
  const read = profileFrom(profile)
  if (url !== null && hasEndpoint(read, 'leads'))
    refuseOverwriting(read, endpointUrl(url, read, 'leads'), profile)
  return read
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
    ...(config.enrichment && { details: { ...config.enrichment, concurrency: DETAILS_AT_ONCE } }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(config.api.runMinutes * 60_000)]),
  }
}

/** The known secrets of webhooks, so that logs and errors hide them, also those that another process stores later. */
export function webhookSecretsOf({ dataDir, events }: Config): () => readonly string[] {
  // An unreadable file is ignored here, because the code that needs its content reports the error.
  return watchSecrets(registrationFile(dataDir), eventSecrets(events.secret), () => undefined)
}
