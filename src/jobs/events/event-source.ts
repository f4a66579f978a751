/** How events of the upstream come to this installation. */
import type { Registration } from './webhook-registration.ts'

export interface EventSource {
  /**
   * Null where this installation has registered no webhook.
   * @throws LeadsheetError webhook_unreadable
   */
  readonly readRegistration: () => Promise<Pick<Registration, 'events' | 'registeredAt'> | null>
  /** Whether the settings have a secret, as they do where somebody registered a webhook by hand. */
  readonly isByHand: boolean
  /** Whether the upstream lets a program register one. */
  readonly canRegister: boolean
}
