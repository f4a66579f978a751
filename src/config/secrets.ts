/** What of a configuration must not be seen. */
import type { Config } from './config.ts'
import { eventSecrets } from './event-settings.ts'

/** Shorter parts of addresses are words. */
const SECRET_PART = 12

/** Every text of a configuration that must not get into a log. */
export function secretsOf({ api, databaseUrl, smtp, mail, alerts, web, events }: Config): string[] {
  const passwords = [databaseUrl, smtp.url].flatMap((url) => (url ? new URL(url.reveal()).password : []))
  const { webhook, heartbeat } = alerts
  const keys = [api.key, mail.dkim?.key, webhook?.url, heartbeat?.url, web.token].map(
    (key) => key?.reveal() ?? '',
  )
  const parts = [webhook?.url, heartbeat?.url].flatMap((url) =>
    url ? secretParts(new URL(url.reveal())) : [],
  )
  const found = [...keys, ...parts, ...eventSecrets(events.secret)]
  found.push(...passwords, ...passwords.map(decodeURIComponent))
  return found.filter((text) => text !== '')
}

/** What of an address may be its secret: errors name paths, or a part of them. */
function secretParts({ pathname, searchParams }: URL): string[] {
  return [...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= SECRET_PART)
}
