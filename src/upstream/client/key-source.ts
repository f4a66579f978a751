/** The source of the API key, which may change while the client sends requests. */
import { learnSecret } from '../../redaction.ts'

export interface KeySource {
  /** The words for the key in the error of a refusal, such as `the API key`. */
  readonly what: string
  /** A hint for a key that the upstream refuses. */
  readonly hint: string
  /**
   * Returns the key for the next request.
   * @throws LeadsheetError if there is no key; the signal's reason if the signal ends the wait
   */
  current(signal: AbortSignal): Promise<string>
  /**
   * Returns whether there is another key now that the upstream has refused this one (401). Of many requests
   * that were refused with one key, only the first makes a new one.
   */
  hasOther(refused: string, signal: AbortSignal): Promise<boolean>
  /** Returns the keys so far, so that they can be removed from answers; the same array until there is another. */
  known(): readonly string[]
  /** Says where the current key came from and how long it lasts; null for a key of the settings. */
  about(): string | null
  /** Waits for what must not be cut off, such as the answer with a new refresh token. */
  close(): Promise<void>
}

/**
 * A key of the settings.
 * @param readAgain reads the key again from where it was, after a refusal; null if it cannot be read
 */
export function fixedKey(key: string, readAgain: () => string | null = () => null): KeySource {
  let known: readonly string[] = [key]
  const newest = () => known.at(-1) ?? ''
  return {
    what: 'the API key',
    hint: 'Check api.key (LEADSHEET_API_KEY or LEADSHEET_API_KEY_FILE), and how the profile sends it (auth).',
    current: async () => newest(),
    async hasOther(refused) {
      const read = newest() === refused ? readAgain() : null
      if (read !== null && read !== refused) known = [...known, learnSecret(read)]
      return newest() !== refused
    },
    known: () => known,
    about: () => null,
    close: async () => undefined,
  }
}
