/** A secret value. It prints as `[redacted]` everywhere, until `reveal()` is called. */
import { inspect } from 'node:util'

const REDACTED = '[redacted]'

/** What of a setting is secret: all of it, the password of a URL, an address with its parts, or each line. */
export type SecretKind = 'whole' | 'login' | 'address' | 'lines'

export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The value itself. Call it only where the value is used, never to keep or print it. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  [inspect.custom](): string {
    return REDACTED
  }
}
