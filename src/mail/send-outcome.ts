/** How a message is handed over: what both ends agree on, whatever the transport. */

export interface Handover {
  readonly signal: AbortSignal
  /**
   * Runs just before the first byte of the message leaves and is waited for; if it fails, no byte does and its
   * error comes out. A message whose sending broke off before it was certainly not delivered; after it, it may
   * have been.
   */
  readonly onData?: () => void | Promise<void>
}

/** What the far side said when it took the message. */
export interface Receipt {
  readonly response: string
}
