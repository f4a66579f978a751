/** The floor of a re-sync: the pages fetched, and fetched and parsed, and nothing else. */
import { timeStep, url } from '../step.ts'
import { bytesOf, countPages, pagesOf } from './pages.ts'

await timeStep('bytes', () => countPages(bytesOf(`${url}/v1`)))
await timeStep('and parse', () => countPages(pagesOf(`${url}/v1`)))
