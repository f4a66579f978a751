/** One attempt to send a message, and what became of it. */
import type { Message } from '../../../src/domain/message.ts'
import type { LeadsheetError } from '../../../src/errors.ts'
import { failedSendOf, type SendOptions } from '../../../src/mail/sending.ts'
import type { Transport } from '../../../src/mail/transport.ts'
import { MESSAGE } from './message.ts'

/** @returns the answer or the failure, what the failure means, and how often a body has begun to leave */
export async function attempt(
  transport: Transport,
  message: Partial<Message> = {},
  { signal = new AbortController().signal, onData, ...options }: Partial<SendOptions> = {},
) {
  let begun = 0
  const countBegun = () => {
    begun++
    return onData?.()
  }
  const sending = transport.send({ ...MESSAGE, ...message }, { signal, onData: countBegun, ...options })
  const end = await sending.then(
    ({ response }) => ({ response, failure: null }),
    (failure: LeadsheetError) => ({ response: null, failure }),
  )
  return { ...end, failed: failedSendOf(end.failure), begun }
}
