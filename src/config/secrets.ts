/** A value that must not be seen: it prints as `[redacted]` wherever it is put, until `reveal()` is called. */
import { inspect } from 'node:util'

const REDACTED = '[redacted]'

export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The value itself; call it only where it is used, never to keep or print it. */
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
