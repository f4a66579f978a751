/** The API of a provider that fails now and then. The same seed makes the same attempts fail. */
import { onTestFinished } from 'vitest'
import { type ApiAct, type ApiScheme, type ApiWanted, startMailApi } from '../../support/mail/api-server.ts'
import { openNotes } from './sink.ts'

/** Numbers below these, from 0 to 1, make these faults; the first that is not reached counts. */
const FAULTS: readonly { readonly below: number; readonly act: ApiAct }[] = [
  { below: 0.03, act: 'take and drop' },
  { below: 0.05, act: 'take and fail' },
  { below: 0.07, act: 'drop' },
  { below: 0.09, act: { status: 500, body: '<html>Oops</html>' } },
  { below: 0.14, act: { status: 429, headers: { 'retry-after': '0.01' } } },
  { below: 0.19, act: { status: 429, headers: { 'retry-after': '90' } } },
]

/** Starts the server for the current test; `now` is the clock of the senders. */
export async function startApiSink(
  scheme: ApiScheme,
  seed: number,
  wanted: Pick<ApiWanted, 'allows' | 'now'>,
) {
  const { arrivals, refused, countAttempt, draw, reach, untilStep } = openNotes(seed, [
    'request',
    'bytes',
    'message',
  ])
  const api = await startMailApi(scheme, {
    ...wanted,
    onRequest(request) {
      reach('request')
      request.on('data', () => reach('bytes'))
    },
    decide({ to }) {
      const drawn = draw(`${countAttempt(to)} ${to}`)
      return FAULTS.find(({ below }) => drawn < below)?.act ?? null
    },
    onMail({ to, id, sha256 }, act, isKnown) {
      const isLost = act === 'take and drop' || act === 'take and fail'
      const end = act === null ? 'taken' : isLost ? 'lost' : 'refused'
      if (isKnown) refused.recognised++
      else arrivals.push({ to, end, messageId: `<${id}@example.com>`, isSigned: true, sha256 })
      reach('message')
    },
  })
  onTestFinished(() => api[Symbol.asyncDispose]())
  return { url: api.url, arrivals, refused, untilStep }
}
