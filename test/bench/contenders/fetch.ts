/** The floor of a re-sync: the pages fetched, and fetched and parsed, and nothing else. */
import { Agent, type Dispatcher, request } from 'undici'
import { timeStep, url } from '../step.ts'
import { pagesOf } from './pages.ts'

await timeStep('bytes', readBytes)
await timeStep('fetch and parse', async () => {
  let requests = 0
  for await (const _ of pagesOf(`${url}/v1`)) requests++
  return requests
})

async function readBytes(): Promise<null> {
  const dispatcher = new Agent()
  let next: string | null = '0'
  while (next !== null) {
    const answer: Dispatcher.ResponseData = await request(`${url}/v1/api/v1/leads?limit=500&cursor=${next}`, {
      dispatcher,
    })
    const bytes: Buffer = Buffer.from(await answer.body.arrayBuffer())
    next = /"next_cursor":"(\d+)"/.exec(bytes.toString('latin1', bytes.length - 100))?.[1] ?? null
  }
  return null
}
