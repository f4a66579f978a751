/** The links in letters by which recipients reach their page. */
import type { Config } from '../config/config.ts'
import { type LinkSubject, signLink } from '../mail/link-token.ts'
import type { Store } from '../store/db/store.ts'
import { readOrCreateLinkKey } from '../store/reports/link-key.ts'
import { subscriptionUrl } from '../web/preferences.ts'

/** Null where no pages are served. */
export async function subscriptionLinks(
  { web: { publicUrl } }: Pick<Config, 'web'>,
  store: Store,
): Promise<((subject: LinkSubject) => string) | null> {
  if (publicUrl === null) return null
  const key = await readOrCreateLinkKey(store, new Date())
  return (subject) => subscriptionUrl(publicUrl, signLink(key, subject))
}
