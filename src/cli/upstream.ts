/** The configured upstream, opened for one command. */
import type { Config } from '../config/config.ts'
import { requireApi } from '../config/requirements.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import type { Log } from '../log.ts'
import type { HeldRow } from '../model.ts'
import { isHeld } from '../upstream/mapping/lead-mapping.ts'
import { openSource, type SourceOptions } from '../upstream/open.ts'
import { type Profile, parseProfile, sendsKey } from '../upstream/profile/profile.ts'
import { REFERENCE_PROFILE } from '../upstream/profile/reference-profile.ts'
import type { Source } from '../upstream/source.ts'
import type { Terminal } from './terminal.ts'
import { webhookSecretsOf } from './webhook-secrets.ts'

/** Where somebody waits for the answer, and nothing is lost with it. */
export const BRIEF_BACKOFF = { attempts: 2, baseMs: 300, maxMs: 1_000 }

/** @throws LeadsheetError config_missing, api_*, and what `use` throws */
export async function withSource<T>(terminal: Terminal, use: (source: Source) => Promise<T>): Promise<T> {
  const source = openSourceOf(await terminal.config(), await terminal.log())
  try {
    return await use(source)
  } finally {
    await source.close()
  }
}

/**
 * To be closed.
 * @param options.backoff other than usual where somebody waits for the answer
 * @param options.pacer of all processes that ask; one of its own by default
 * @throws LeadsheetError config_missing, config_invalid
 */
export function openSourceOf(
  config: Config,
  log: Log,
  options: Pick<SourceOptions, 'backoff' | 'pacer'> = {},
): Source {
  const profile = profileOf(config)
  const { url, key, maxWaitSeconds } = requireApi(config, needsKey(profile))
  const maxWaitMs = maxWaitSeconds * 1000
  return openSource({
    ...{ baseUrl: url, apiKey: key?.reveal() ?? '', profile, maxWaitMs, log },
    ...{ otherSecrets: webhookSecretsOf(config), ...options },
  })
}

/** @throws LeadsheetError config_invalid */
export function profileOf({ api: { profile } }: Config): Profile {
  if (profile === null) return REFERENCE_PROFILE
  if (profile.problem === null) return parseProfile(profile.data, profile.nameOf)
  throw new LeadsheetError('config_invalid', `The profile ${profile.origin} ${profile.problem}`, {
    hint: `${shellCommand('probe URL --write FILE')} makes one; api.profile (LEADSHEET_API_PROFILE) names it.`,
  })
}

export function needsKey(profile: Profile): boolean {
  return sendsKey(profile.auth)
}

/** The records that could be read. Of the others a note is made, and the command ends as done in part. */
export function keepReadable<T extends object>(terminal: Terminal, mapped: readonly (T | HeldRow)[]): T[] {
  const held = mapped.filter(isHeld)
  for (const { resource, reason } of held.slice(0, 3)) terminal.note(`unreadable ${resource}: ${reason}`)
  if (held.length > 0) {
    terminal.note(
      `${held.length} of ${mapped.length} records could not be read; --json shows them as they are`,
    )
    terminal.end('partly')
  }
  return mapped.filter((record): record is T => !isHeld(record))
}
