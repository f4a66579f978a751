/** What is known here of the secrets of webhooks, for whatever must not show them. */
import type { Config } from '../config/config.ts'
import { eventSecrets } from '../config/schema.ts'
import { registrationFile, secretsIn, watchState } from '../jobs/events/webhook-registration.ts'

/** Those of now, also of a registration that another process has just made. */
export function webhookSecretsOf({ dataDir, events }: Config): () => string[] {
  // What cannot be read is told by what needs it.
  const watched = watchState(registrationFile(dataDir), () => undefined)
  return () => [...eventSecrets(events.secret), ...secretsIn(watched())]
}
