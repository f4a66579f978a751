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

/** The name under which a copied secret stands in {@link copySettings}. */
const COPIED = 'a copied secret'

/**
 * Copies settings with their secrets so that another thread of this process can get them. Functions are left
 * out.
 */
export function copySettings(settings: unknown): unknown {
  if (settings instanceof Secret) return { [COPIED]: settings.reveal() }
  return eachIn(settings, copySettings)
}

/** Makes settings from what {@link copySettings} returned. */
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
