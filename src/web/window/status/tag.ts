/** A state in a word, as `.tag` shows it. */

export interface Tag {
  readonly kind: 'ok' | 'warn' | 'fail' | 'busy' | 'off'
  readonly text: string
}
