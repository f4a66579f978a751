/** The name of a table or column inside SQL that is put together: names cannot be bound. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
