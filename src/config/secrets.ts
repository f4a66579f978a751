/** A secret value. It prints as `[redacted]` everywhere, until `reveal()` is called. */
import { inspect } from 'node:util'

const REDACTED = '[redacted]'

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
