/** Key management without a running server. Safe beside one: it sees a new or revoked key at its next request. */
import { type ApiKey, createApiKey, listApiKeys, revokeApiKey } from './store/api-key.ts'
import { openServiceDatabase } from './store/database.ts'
import type { KeyScope } from './store/tables.ts'

export type { ApiKey } from './store/api-key.ts'

export interface Keyring extends AsyncDisposable {
  /** @returns the key itself, shown this once */
  create(key: { readonly name: string; readonly scope: KeyScope }): Promise<string>
  list(): Promise<readonly ApiKey[]>
  /** @returns how many keys this has revoked, 0 or 1 as a rule */
  revoke(idOrPrefix: string): Promise<number>
  close(): Promise<void>
}

/**
 * @param file the service's database; made if it is not there
 * @throws LeadsheetError data_unwritable, store_corrupt, store_newer
 */
export async function openKeyring(file: string, now: () => number = Date.now): Promise<Keyring> {
  const db = await openServiceDatabase(file)
  const close = (): Promise<void> => db.destroy()
  return {
    create: (key) => createApiKey(db, key, now()),
    list: () => listApiKeys(db),
    revoke: (idOrPrefix) => revokeApiKey(db, idOrPrefix, now()),
    close,
    [Symbol.asyncDispose]: close,
  }
}
