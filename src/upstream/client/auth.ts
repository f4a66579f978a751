/** How the key goes along with a request, as the profile says, and what is taken out of what comes back. */
import { redactor } from '../../redaction.ts'
import type { Profile } from '../profile/profile.ts'

/** Puts the key and the fixed headers of the profile onto a request; changes both arguments. */
export function authorize(
  profile: Pick<Profile, 'auth'>,
  key: string,
  url: URL,
  headers: Record<string, string>,
): void {
  const { auth } = profile
  if (auth === 'none') return
  const fill = (template: string): string =>
    template.replaceAll('{key}', () => key).replaceAll('{basic}', () => basicOf(key))
  for (const [name, value] of Object.entries(auth.headers)) headers[name.toLowerCase()] = fill(value)
  if (auth.query !== undefined) url.searchParams.set(auth.query, key)
  else if (auth.value !== '') headers[auth.header.toLowerCase()] = fill(auth.value)
}

/** RFC 7617; a key without a password is the user. */
export function basicOf(key: string): string {
  return Buffer.from(key.includes(':') ? key : `${key}:`).toString('base64')
}

/** For what is quoted of an answer. */
export function redactorOf({
  apiKey,
  otherSecrets = () => [],
}: {
  readonly apiKey: string
  /** As they are then. */
  readonly otherSecrets?: () => readonly string[]
}): (text: string) => string {
  return (text) => redactor([apiKey, ...otherSecrets()])(text)
}
