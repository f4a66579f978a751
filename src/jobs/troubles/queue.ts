/** What is wrong with the jobs of several workers. */

import { shellCommand } from '../../errors.ts'
import { countJobs } from '../../queue/look.ts'
import { counted } from '../../report/words/numbers.ts'
import type { Watch } from './watch.ts'

export const WATCH_QUEUE: Watch = {
  reasons: ['jobs_dead'],
  async find({ store }) {
    const dead = (await countJobs(store))?.filter((queue) => queue.dead > 0) ?? []
    return dead.map(({ queue, dead: jobs }) => ({
      ...{ reason: 'jobs_dead', subject: queue },
      message: `${counted(jobs, 'job')} of the queue ${queue} failed again and again, and ${jobs === 1 ? 'was' : 'were'} given up.`,
      hint: `${shellCommand('queue list')} says why; ${shellCommand('queue retry')} has them done again once that is mended.`,
    }))
  },
}
