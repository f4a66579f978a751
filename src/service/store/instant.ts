/** Instants: whole milliseconds in the store, RFC 3339 in UTC on the wire. */

export function instantOf(at: number): string {
  return new Date(at).toISOString()
}
