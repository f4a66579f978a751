/** Collects the known secrets of webhooks, so that logs and errors can hide them. */
import type { Config } from '../config/config.ts'
import { eventSecrets } from '../config/schema.ts'
import { registrationFile, secretsIn, watchState } from '../jobs/events/webhook-registration.ts'

/**
 * Returns a function that lists the present secrets, including those of a registration that another process
 * has just made.
 */
export function webhookSecretsOf({ dataDir, events }: Config): () => string[] {
  // An unreadable file is reported by the code that needs its content.
  const watched = watchState(registrationFile(dataDir), () => undefined)
  return () => [...eventSecrets(events.secret), ...secretsIn(watched())]
}
