/** What messages of the upstream are signed with, where a webhook was registered by hand, as a schema. */
import type { Secret } from './secret.ts'
import { path, section, text } from './value-kinds.ts'

const SECRET_LENGTH = 8

export const eventsSchema = section({
  secret: text(`texts of at least ${SECRET_LENGTH} characters, one a line`, secretFault).optional().meta({
    description:
      'The secret of a webhook that was registered at the upstream by hand; several while one takes the place of another, one a line. Better kept out of this file: see secret_file.',
  }),
  secret_file: path.optional().meta({ description: 'File that holds it, or several, in place of secret.' }),
})

/** One each. */
export function eventSecrets(secret: Secret | null): string[] {
  return secret === null ? [] : linesOf(secret.reveal())
}

function secretFault(value: string): string | null {
  const shortest = Math.min(...linesOf(value).map(({ length }) => length))
  return shortest < SECRET_LENGTH ? 'one is shorter' : null
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
