/**
 * Fetches a page of one lead in its own process, and prints the result with the memory and CPU time used: `node
 * fetch-once.ts URL`.
 */
import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import { LeadsheetError } from '../../../src/errors.ts'
import { openSource } from '../../../src/upstream/source.ts'

const [, , url = ''] = process.argv
const source = openSource({ baseUrl: url, apiKey: 'test-key', maxWaitMs: 0, log: pino({ level: 'silent' }) })
const before = process.memoryUsage().rss
let highest = before
const watch = setInterval(() => {
  highest = Math.max(highest, process.memoryUsage().rss)
}, 5)
const began = process.cpuUsage()
const message = await source.listLeads({}, null, 1).then(
  (page) => `${page.records.length} records`,
  (thrown: unknown) =>
    thrown instanceof LeadsheetError ? `${thrown.code}: ${thrown.message}` : String(thrown),
)
const { user, system } = process.cpuUsage(began)
clearInterval(watch)
// The peak in `process.resourceUsage` includes the memory of a large parent, so the system is asked instead.
const told = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
const peak = Math.max(highest, Number(told) * 1024)
process.stdout.write(
  JSON.stringify({ message, cpuMs: (user + system) / 1000, grownMb: (peak - before) / 1024 / 1024 }),
)
await source.close()
