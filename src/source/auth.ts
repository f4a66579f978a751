/** How the key goes along with a request, as the profile says. */
import type { Profile } from './profile.ts'

/** Puts the key and the fixed headers of the profile onto a request; changes both arguments. */
export function authorize(
  profile: Pick<Profile, 'auth'>,
  key: string,
  url: URL,
  headers: Record<string, string>,
): void {
  const { auth } = profile
  if (auth === 'none') return
  Object.assign(headers, auth.headers)
  const value = auth.value.replaceAll('{key}', key).replaceAll('{basic}', basicOf(key))
  if (auth.query === undefined) headers[auth.header.toLowerCase()] = value
  else url.searchParams.set(auth.query, key)
}

/** RFC 7617; a key without a password is the user. */
function basicOf(key: string): string {
  return Buffer.from(key.includes(':') ? key : `${key}:`).toString('base64')
}
