/** A secret value, which prints as `[redacted]`. Only `reveal()` returns the value. */
import { inspect } from 'node:util'

const REDACTED = '[redacted]'

/**
 * The part of a setting that is secret. `whole`: the whole value. `login`: the password in a URL. `address`:
 * a URL and its longer parts. `lines`: each line of the value.
 */
export type SecretKind = 'whole' | 'login' | 'address' | 'lines'

export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** Returns the secret value. Call this only where the value is used, never to store or print it. */
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

/** The name of the property that marks a secret in the result of {@link copySettings}. */
const COPIED = 'a copied secret'

/**
 * Copies settings and their secrets into plain objects, which can be sent to another process.
 * Leaves functions out.
 */
export function copySettings(settings: unknown): unknown {
  if (settings instanceof Secret) return { [COPIED]: settings.reveal() }
  return eachIn(settings, copySettings)
}

/** Turns the result of {@link copySettings} back into settings with secrets. */
export function pasteSettings(copied: unknown): unknown {
  if (typeof copied === 'object' && copied !== null && COPIED in copied)
    return new Secret(String(copied[COPIED]))
  return eachIn(copied, pasteSettings)
}

function eachIn(tree: unknown, change: (part: unknown) => unknown): unknown {
  if (Array.isArray(tree)) return tree.map(change)
  if (typeof tree !== 'object' || tree === null) return tree
  const parts = Object.entries(tree).filter(([, part]) => typeof part !== 'function')
  return Object.fromEntries(parts.map(([name, part]) => [name, change(part)]))
}
