/** What the settings may say but had better not. */
import type { Draft } from './draft.ts'
import { isSecret, mistakeLine } from './mistakes.ts'
import { leavesOf, pathText } from './setting-path.ts'
import type { Settings } from './settings.ts'
import type { SettingsFile } from './settings-file.ts'
import { dashboardAccess, TOKEN_REMEDY } from './web-access.ts'
import { listenAddress } from './web-settings.ts'

export function warningsOf(settings: Settings, draft: Draft, file: SettingsFile | null): string[] {
  return [
    ...plainHttp(settings, draft),
    ...foreignSignature(settings, draft),
    ...closedDashboard(settings, draft),
    ...onOneMachine(settings, draft),
    ...readableSecrets(draft, file),
  ]
}

function plainHttp({ api }: Settings, draft: Draft): string[] {
  const url = api.url === undefined ? null : new URL(api.url)
  if (url?.protocol !== 'http:' || /^(localhost|127\..*|\[::1\])$/.test(url.hostname)) return []
  const origin = draft.findOrigin(['api', 'url'], 'value')
  return [mistakeLine(origin, `the API key travels unencrypted to ${url.host}; use https:// if it can`)]
}

/** DMARC (RFC 7489, 3.1.1) counts only the signature of the sender's domain, or of one above or below it. */
function foreignSignature({ mail: { from, dkim } }: Settings, draft: Draft): string[] {
  if (from === undefined || dkim === undefined) return []
  const domain = dkim.domain.toLowerCase()
  const sender = from
    .slice(from.lastIndexOf('@') + 1)
    .replace('>', '')
    .toLowerCase()
  if (`.${sender}`.endsWith(`.${domain}`) || domain.endsWith(`.${sender}`)) return []
  const origin = draft.findOrigin(['mail', 'dkim', 'domain'], 'value')
  return [mistakeLine(origin, `a signature of ${domain} proves nothing about a sender at ${sender}`)]
}

function closedDashboard({ web }: Settings, draft: Draft): string[] {
  const listen = listenAddress(web.listen)
  if (listen === null) return []
  const { public_url: publicUrl = null, allowed_hosts: allowedHosts } = web
  if (dashboardAccess({ listen, publicUrl, allowedHosts, hasToken: web.token !== undefined }) !== 'closed')
    return []
  const origin = draft.findOrigin(['web', 'token'], 'value')
  return [mistakeLine(origin, `the dashboard can be reached from outside, and is closed. ${TOKEN_REMEDY}`)]
}

/** What is in the data directory of one machine, where several may work on one store. */
function onOneMachine({ database_url, smtp }: Settings, draft: Draft): string[] {
  if (database_url === undefined || smtp.url === undefined || new URL(smtp.url).protocol !== 'file:')
    return []
  const origin = draft.findOrigin(['smtp', 'url'], 'value')
  return [mistakeLine(origin, 'each machine puts the mails that it sends into a folder of its own')]
}

/** Secrets that stand in a settings file which everyone can read. */
function readableSecrets(draft: Draft, file: SettingsFile | null): string[] {
  if (!file?.isWorldReadable) return []
  const fromVariables = file.filled.map(({ path }) => pathText(path))
  return [...leavesOf(draft.tree)].flatMap(([path, value]) => {
    const origin = draft.findOrigin(path, 'value')
    const stands =
      value !== undefined &&
      isSecret(path) &&
      origin.name === pathText(path) &&
      (!MAY_HOLD_PASSWORD.includes(pathText(path)) || hasPassword(String(value)))
    if (!stands || fromVariables.includes(pathText(path))) return []
    return [mistakeLine(origin, `every user of this machine can read ${file.path}; chmod 600 it`)]
  })
}

/** And are none without it. */
const MAY_HOLD_PASSWORD = ['smtp.url', 'database_url']

function hasPassword(url: string): boolean {
  return URL.parse(url)?.password !== ''
}
