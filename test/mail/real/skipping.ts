/**
 * For `describe.skipIf`: says aloud what is not tried, for a skip that nobody reads about is a test that nobody runs.
 * @param remedies of what is missing; null for what is there
 */
export function isSkipped(what: string, ...remedies: readonly (string | null)[]): boolean {
  const missing = remedies.filter((remedy) => remedy !== null)
  if (missing.length === 0) return false
  // biome-ignore lint/suspicious/noConsole: see above
  console.warn(`SKIPPED: ${what}: ${missing.join('; ')}`)
  return true
}
