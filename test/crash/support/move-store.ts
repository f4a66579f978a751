/** A process that moves a store and reports each step to its parent. A test may kill it at any step. */
import { moveStore } from '../../../src/store/copy/copy.ts'
import { placeOf } from '../../../src/store/db/place.ts'
import { openStore } from '../../../src/store/open.ts'

const [from = '', to = ''] = process.argv.slice(2)
const now = new Date('2026-11-21T09:00:00Z')
await using source = await openStore(from, now)
const moved = await moveStore(source, placeOf(to), {
  now: () => now,
  signal: new AbortController().signal,
  onProgress: ({ step }) => void process.send?.(step),
})
process.send?.(moved)
process.disconnect?.()
