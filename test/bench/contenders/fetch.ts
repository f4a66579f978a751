/** The floor of a re-sync: the pages fetched, and fetched and parsed, and nothing else. */
import { timeStep, url } from '../step.ts'
import { bytesOf, pagesOf } from './pages.ts'

await timeStep('bytes', async () => {
  let requests = 0
  for await (const _ of bytesOf(`${url}/v1`)) requests++
  return requests
})
await timeStep('and parse', async () => {
  let requests = 0
  for await (const _ of pagesOf(`${url}/v1`)) requests++
  return requests
})
