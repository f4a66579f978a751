/** How events of the upstream come to this installation. */
import type { Instant } from '../model.ts'

/** What is known of the webhook that this installation has registered. */
export interface KnownRegistration {
  /** Types of events. */
  readonly events: readonly string[]
  readonly registeredAt: Instant
}

export interface EventSource {
  /**
   * Null where this installation has registered no webhook.
   * @throws LeadsheetError webhook_unreadable
   */
  readonly readRegistration: () => Promise<KnownRegistration | null>
  /** Whether the settings have a secret, because somebody registered a webhook by hand. */
  readonly isByHand: boolean
  /** Whether the upstream lets a program register one. */
  readonly canRegister: boolean
}
