/** A secret value. It prints as `[redacted]` everywhere, until `reveal()` is called. */
import { inspect } from 'node:util'

const REDACTED = '[redacted]'

/**
 * The part of a setting that is secret: the whole value, the password of a URL, an address and its parts, or
 * each line.
 */
export type SecretKind = 'whole' | 'login' | 'address' | 'lines'

export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** Returns the value itself. Call this only where the value is used, never to store or print the value. */
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
