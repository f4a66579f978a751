/**
 * Sends signed messages at an even pace without waiting for answers: `node sender.ts ADDRESS SECRET MESSAGES
 * SECONDS`. They are about the changed leads of the bench's state `v3`, each equally often, in an order from
 * a seed. Prints one line of JSON with the answers and their times.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { standardHeaders } from '../../../src/contract/webhook.ts'
import { random, shuffled } from '../../support/random.ts'
import { generateLead } from '../generate.ts'

export interface Sent {
  /** The time from the request to the end of the answer. */
  readonly p99Ms: number
  /** The number of answers with each status. */
  readonly statuses: Readonly<Record<string, number>>
}

const [address = '', secret = ''] = process.argv.slice(2)
const [messages = 0, seconds = 0, leads = 0] = process.argv.slice(4).map(Number)

const dispatcher = new Agent({ connections: 64 })
const changed = Array.from({ length: leads }, (_, number) => number).filter((number) =>
  [7, 13].includes(number % 100),
)
const bodies = shuffled(
  Array.from({ length: messages }, (_, index) => bodyOf(index)),
  random(1),
)
const times: number[] = []
const statuses: Record<string, number> = {}
const answers: Promise<void>[] = []

const began = performance.now()
for (const [index, { id, body }] of bodies.entries()) {
  const due = began + (index * seconds * 1000) / messages
  const early = due - performance.now()
  if (early > 0) await delay(early)
  answers.push(post(id, body))
}
await Promise.all(answers)
await dispatcher.close()

times.sort((one, other) => one - other)
const sent: Sent = { p99Ms: times[Math.ceil(0.99 * times.length) - 1] ?? Number.NaN, statuses }
console.log(JSON.stringify(sent))

function bodyOf(index: number): { readonly id: string; readonly body: string } {
  const id = `msg_${index}`
  const lead = generateLead(changed[index % changed.length] ?? 0)
  const data = {
    lead_id: lead.id,
    pipeline_id: lead.pipeline_id,
    from_status: lead.status,
    to_status: lead.status,
  }
  const timestamp = new Date().toISOString()
  return { id, body: JSON.stringify({ id, type: 'lead.status_changed', version: '1', timestamp, data }) }
}

async function post(id: string, body: string): Promise<void> {
  const signed = standardHeaders([secret], { id, timestamp: Math.floor(Date.now() / 1000), body })
  const headers = { ...signed, 'content-type': 'application/json' }
  const asked = performance.now()
  const status = await request(address, { method: 'POST', dispatcher, headers, body }).then(
    (answer) => answer.body.dump().then(() => String(answer.statusCode)),
    (error: Error) => error.message,
  )
  times.push(performance.now() - asked)
  statuses[status] = (statuses[status] ?? 0) + 1
}
