/** The words of editions, by which they are found. */
export const SEARCH: readonly string[] = []
