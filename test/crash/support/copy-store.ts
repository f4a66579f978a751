/** A process that copies a store, and kills itself once it has done a share of its work. */
import { copyStore } from '../../../src/store/copy/copy.ts'
import { placeOf } from '../../../src/store/db/place.ts'
import { openStore } from '../../../src/store/open.ts'

const [from = '', to = '', share = ''] = process.argv.slice(2)
const now = new Date('2026-11-21T09:00:00Z')
await using source = await openStore(from, now)
await copyStore(source, placeOf(to), {
  now: () => now,
  signal: new AbortController().signal,
  onProgress(done, total) {
    if (done / total >= Number(share)) process.kill(process.pid, 'SIGKILL')
  },
})
