/** Describes the settings in force for people: each with its value and its origin. */
import { nameOf, placeOf } from '../store/db/place.ts'
import type { Config } from './config.ts'
import { filterText } from './report-config.ts'
import { schemaAt, settingsIn } from './schema.ts'
import { listenText } from './schema-web.ts'
import { Secret } from './secrets.ts'
import { pathText, type SettingPath } from './setting-path.ts'

interface EffectiveSetting {
  /** The name as in the settings file, such as `api.page_size`. */
  readonly setting: string
  /** The value, with secrets redacted; null if the setting is not set and has no default. */
  readonly value: unknown
  /**
   * The place where the value was given, or `default`, `not set`, or a text such as `as recipients` if a
   * report uses the top-level setting.
   */
  readonly source: string
}

export function effectiveSettings(config: Config): EffectiveSetting[] {
  const { file: _file, warnings: _warnings, sources, api, enrichment, web, reports, ...rest } = config
  // The profile is a document of its own, so only its place is shown.
  const settings = {
    api: { ...api, profile: api.profile?.origin ?? null },
    ...rest,
    enrichment: shownEnrichment(enrichment),
    web: { ...web, listen: listenText(web.listen) },
    reports: reports.map(({ recipients, filter, ...report }) => ({
      ...report,
      filter: filterText(filter),
      recipients: recipients.map(({ address }) => address),
    })),
  }
  return [...settingsIn(settings)].map(([path, value]) => {
    const setting = pathText(path)
    return {
      setting,
      value: value instanceof Secret ? redacted(path, value) : value,
      source:
        sources[setting] ?? sources[olderName(path)] ?? (value === null ? 'not set' : inheritedFrom(path)),
    }
  })
}

function shownEnrichment(enrichment: Config['enrichment']) {
  if (enrichment === null) return { policy: 'none' }
  return { policy: enrichment.top === null ? 'changed' : 'top', ...enrichment }
}

/**
 * Returns the names of the settings whose values differ. Secrets are compared too. A setting with parts, such
 * as a filter, counts as one setting.
 */
export function changedSettings(before: Config, after: Config): string[] {
  const [old, anew] = [comparable(before), comparable(after)]
  return [...new Set([...old.keys(), ...anew.keys()])].filter((name) => old.get(name) !== anew.get(name))
}

/**
 * Returns the values as texts, by the names of the settings. The texts hold secrets and must never be shown.
 */
function comparable({ file: _file, warnings: _warnings, sources: _sources, ...settings }: Config) {
  const asText = (value: unknown) => (value instanceof Secret ? value.reveal() : JSON.stringify(value))
  return new Map([...settingsIn(settings)].map(([path, value]) => [pathText(path), asText(value)]))
}

/**
 * Hides a secret. Addresses of the database and the mail server lose only their login, because operators need
 * the rest to find a fault.
 */
function redacted(path: SettingPath, secret: Secret): string {
  if (schemaAt(path)?.secret !== 'login') return secret.toString()
  const url = new URL(secret.reveal())
  if (url.protocol.startsWith('postgres')) return nameOf(placeOf(secret.reveal()))
  if (url.protocol === 'file:') return url.href
  return `${url.protocol}//${url.username ? `${secret}@` : ''}${url.host}`
}

/**
 * Returns the name of the older setting `pipelines`, in which a report's filter may have been given; empty
 * for other settings.
 */
function olderName(path: SettingPath): string {
  return path.at(-1) === 'filter' ? pathText([...path.slice(0, -1), 'pipelines']) : ''
}

function inheritedFrom(path: SettingPath): string {
  const name = path.slice(-1)
  const isInherited = path[0] === 'reports' && schemaAt(name) !== undefined
  return isInherited ? `as ${pathText(name)}` : 'default'
}
