/** Opens the source of the API key that the settings name: a key, a program, or a login by OAuth. */
import { dirname, join } from 'node:path'
import type { Config } from '../config/config.ts'
import { readSecret } from '../config/merge.ts'
import type { Log } from '../log.ts'
import { openKeyCommand } from '../login/key-command.ts'
import { openOAuthKeys } from '../login/oauth-keys.ts'
import type { ProxySettings } from '../proxy.ts'
import { learnSecret } from '../redaction.ts'
import type { Backoff } from '../retry.ts'
import { fixedKey, type KeySource } from '../upstream/client/key-source.ts'

/** The longest wait that a run accepts from the upstream (Retry-After). A longer one defers the run. */
export const MAX_WAIT_MS = 60_000

/** The settings that a login needs. `init` has no others yet. */
type LoginSettings = Pick<Config, 'dataDir' | 'file' | 'keyFile' | 'proxy'> & {
  readonly api: Pick<Config['api'], 'key' | 'keyCommand' | 'oauth' | 'secret'>
}

export function openKeysOf(
  config: LoginSettings,
  log: Log,
  { backoff }: { readonly backoff?: Backoff | undefined } = {},
): KeySource {
  const { key, keyCommand, oauth, secret } = config.api
  if (secret) learnSecret(secret.reveal())
  if (keyCommand !== null)
    return openKeyCommand(keyCommand, config.file === null ? process.cwd() : dirname(config.file))
  if (oauth === null) return fixedKey(key?.reveal() ?? '', () => readKeyAgain(config))
  return openOAuthOf('api.oauth', oauth, config, log, backoff)
}

/** @param settings the path of the settings of the login */
export function openOAuthOf(
  settings: 'api.oauth' | 'mail.oauth' | 'mail.bounces.oauth',
  oauth: NonNullable<Config['api']['oauth']>,
  config: Pick<Config, 'dataDir' | 'proxy'>,
  log: Log,
  backoff?: Backoff,
): KeySource {
  const { clientSecret, refreshToken, privateKey } = oauth
  for (const each of [clientSecret, refreshToken, privateKey]) if (each) learnSecret(each.reveal())
  const login = {
    ...oauth,
    settings,
    clientSecret: clientSecret?.reveal() ?? null,
    refreshToken: refreshToken?.reveal() ?? null,
    privateKey: privateKey?.reveal() ?? null,
  }
  return openOAuthKeys(login, {
    file: join(config.dataDir, 'tokens.db'),
    log,
    proxy: proxyOf(config),
    now: () => new Date(),
    maxWaitMs: MAX_WAIT_MS,
    backoff,
  })
}

/** Returns the key that `api.key_file` has now, which another program may have rotated; null without one. */
function readKeyAgain({ keyFile }: LoginSettings): string | null {
  const read = keyFile === null ? null : readSecret(keyFile)
  return read !== null && 'value' in read ? read.value : null
}

/**
 * Gets a key as a request would, and closes its source.
 * @returns where it came from and how long it lasts; null for a key of the settings, which is not tried
 * @throws LeadsheetError api_unauthorized and others if there is no key
 */
export async function tryKeys(keys: KeySource, signal: AbortSignal): Promise<string | null> {
  try {
    await keys.current(signal)
    return keys.about()
  } finally {
    await keys.close()
  }
}

/** Returns the proxies of the environment in clear. Their URLs may contain a login and must never be shown. */
export function proxyOf({ proxy: { http, https, except } }: Pick<Config, 'proxy'>): ProxySettings {
  return { http: http?.reveal() ?? null, https: https?.reveal() ?? null, except }
}
