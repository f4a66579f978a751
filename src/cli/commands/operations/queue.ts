/** `leadsheet queue`: lists and retries jobs that failed for good. Only PostgreSQL stores have jobs. */
import type { Command } from 'commander'
import { openData, openDataToRead } from '../../../app/installation.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { type DeadJob, listDeadJobs, retryDeadJobs } from '../../../queue/job-list.ts'
import type { Store } from '../../../store/db/store.ts'
import { addExamples } from '../../command.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export function defineQueue(command: Command, terminal: Terminal): void {
  const list = command
    .command('list', { isDefault: true })
    .description('list jobs of the workers that failed for good, with their reasons (same as `queue`)')
    .action(() => showDead(terminal))
  addExamples(list, ['queue list', 'queue list --json'])

  const retry = command
    .command('retry')
    .description('retry jobs of the workers that failed for good')
    .argument('[id...]', 'id of a job to retry (default: all of them)')
    .action((ids: string[]) => retryDead(terminal, ids))
  addExamples(retry, ['queue retry'])
}

async function showDead(terminal: Terminal): Promise<void> {
  await using store = await openDataToRead(await terminal.dataConfig())
  const dead = (await listDeadJobs(store)) ?? noWorkers()
  if (dead.length > 0) terminal.end('partly')
  if (terminal.json) return terminal.printJson('queue list', dead.map(jobJson))
  if (dead.length === 0) return terminal.note('No job has failed for good.')
  await terminal.printTable<DeadJob>(
    [
      { title: 'JOB', value: ({ id }) => id, isWhole: true },
      { title: 'QUEUE', value: ({ queue }) => queue, isWhole: true },
      { title: 'FAILED', value: ({ diedAt }) => formatInstant(diedAt.toISOString()), isWhole: true },
      { title: 'TRIES', value: ({ tries }) => tries },
      { title: 'ABOUT', value: ({ data }) => aboutOf(data) },
      { title: 'PROBLEM', value: ({ problem }) => problem },
    ],
    dead,
  )
}

async function retryDead(terminal: Terminal, ids: readonly string[]): Promise<void> {
  await using store: Store = await openData(await terminal.config())
  if (store.place.kind === 'sqlite') noWorkers()
  const jobs = await retryDeadJobs(store, ids)
  if (terminal.json) terminal.printJson('queue retry', { retried: jobs })
  else terminal.print(jobs === 1 ? '1 job is queued again' : `${jobs} jobs are queued again`)
}

function noWorkers(): never {
  throw new LeadsheetError('usage_invalid', 'there is no job queue when the store is a file', {
    hint: `One daemon does all the work then: ${shellCommand('schedule')} and ${shellCommand('status')} show it.`,
  })
}

/** Formats the data of a job as names with their values: `lease sync`. */
function aboutOf(data: object): string {
  return Object.entries(data)
    .map(([key, value]) => `${key} ${value}`)
    .join(', ')
}

function jobJson({ id, queue, data, diedAt, tries, problem }: DeadJob) {
  return { id, queue, data, given_up_at: diedAt.toISOString(), tries, problem }
}
