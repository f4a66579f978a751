/** Describes how events of the upstream reach this installation. */
import type { Instant } from '../model.ts'

/** The webhook that this installation has registered. */
export interface KnownRegistration {
  /** The types of events, such as `lead.created`. */
  readonly events: readonly string[]
  readonly registeredAt: Instant
}

export interface EventSource {
  /**
   * Reads the registration; null if this installation has registered no webhook.
   * @throws LeadsheetError webhook_unreadable
   */
  readonly readRegistration: () => Promise<KnownRegistration | null>
  /** Tells whether the settings have a secret, because a person registered a webhook by hand. */
  readonly isByHand: boolean
  /** Tells whether the upstream lets a program register a webhook. */
  readonly canRegister: boolean
}
