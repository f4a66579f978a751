/** Whom a mail server blames: its replies, as servers and providers document them, at each step of a message. */
import { expect, it } from 'vitest'
import { failedSendOf, sendError } from '../../src/mail/smtp-failure.ts'

type At = 'MAIL FROM' | 'RCPT TO' | 'DATA' | '.'

/** Returns what a reply at a step means: who has to wait or has failed. */
function meaningOf(at: At, reply: string): string {
  const cause = Object.assign(new Error(reply), {
    command: at === '.' ? 'DATA' : at,
    response: reply,
    responseCode: Number(reply.slice(0, 3)),
  })
  const phase = at === '.' ? 'data' : 'envelope'
  const failed = failedSendOf(sendError(cause, phase, 'smtp://mail.example.com:587'))
  return `${failed?.kind} ${failed?.concerns}`
}

const SENDER = 'sender server'
const CONFIGURATION = 'configuration server'
const MESSAGE = 'permanent message'
/** The server has refused the message itself, perhaps each like it. */
const REFUSED = 'refused message'
const PERHAPS = 'transient either'
const LATER = 'transient message'

const REPLIES: readonly (readonly [At | 'any', string, string])[] = [
  ['any', '550 5.4.5 daily user sending limit exceeded', SENDER],
  ['any', '550-5.4.5 Daily SMTP relay limit exceeded for user.\n550 5.4.5 see the help', SENDER],
  ['any', '550 5.1.90 Your message cannot be sent, you have reached your daily limit', SENDER],
  ['any', '554 5.2.252 SendAsDenied; reports@example.com not allowed to send as boss@example.com', SENDER],
  ['.', '554 5.2.0 STOREDRV.Submission.Exception:SendAsDeniedException.MapiExceptionSendAsDenied', SENDER],
  ['.', '554 Message rejected: Email address is not verified. The following failed: x@example.com', SENDER],
  ['any', '550 Domain example.com has exceeded the max emails per hour (150/100)', SENDER],
  ['any', '550 You have exceeded the maximum number of messages per day', SENDER],
  ['any', '554 Sending paused for this account', SENDER],
  ['any', '571 5.7.1 User exceeded send limit', SENDER],
  ['any', '550 Maximum credits exceeded', SENDER],
  ['any', "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)", SENDER],
  ['any', '550 5.7.60 SMTP; Client does not have permissions to send as this sender', SENDER],
  ['any', '550 5.7.1 Relaying denied', SENDER],
  ['any', '554 5.7.1 <dana@example.org>: Relay access denied', SENDER],
  ['any', '550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain', SENDER],
  ['any', '550 5.7.57 Client was not authenticated to send anonymous mail', SENDER],
  ['any', '550 5.7.64 TenantAttribution; Relay Access Denied', SENDER],
  ['any', '550 5.7.26 Unauthenticated email from example.com is not accepted (DMARC policy)', SENDER],
  ['any', '550 5.7.0 Email rejected per DMARC policy of example.com', SENDER],
  ['any', '550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP', SENDER],
  ['any', '550 5.7.606 Access denied, banned sending IP [192.0.2.1]', SENDER],
  ['any', '550 5.7.511 Access denied, banned sender', SENDER],
  ['any', '501 5.1.8 Bad sender system address', SENDER],
  ['any', '501 5.1.7 Bad sender address syntax', SENDER],
  ['any', '553 5.7.1 <a@example.com>: Sender address rejected: not owned by user b', SENDER],
  ['any', '550 5.1.0 <a@example.com>: Sender address rejected: User unknown', SENDER],
  ['any', '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org', SENDER],
  ['any', '550 #5.7.1 Your access to this mail system has been rejected due to poor reputation', SENDER],
  ['any', '550 5.7.25 The IP address sending this message does not have a PTR record', SENDER],
  ['any', '550 Sending quota exceeded', SENDER],
  ['any', '550 You have exceeded the maximum of 500 messages per day: daily limit', SENDER],
  ['any', '554 Authentication is required for relay', SENDER],
  ['any', '530 5.7.0 Authentication required', CONFIGURATION],
  ['any', '552 5.3.4 Message size exceeds fixed limit', MESSAGE],
  ['any', '552 Message size exceeds fixed maximum message size', MESSAGE],
  ['any', '552 Too much mail data', MESSAGE],
  ['any', '503 5.5.1 Bad sequence of commands', LATER],
  // Whatever is refused before the recipient was named is about the sender.
  ['MAIL FROM', '550 5.7.1 Access denied', SENDER],
  ['MAIL FROM', '553 not you', SENDER],
  ['MAIL FROM', '550 5.1.1 User unknown', SENDER],
  ['MAIL FROM', '552 5.2.2 over the quota', SENDER],
  ['MAIL FROM', '451 4.3.0 later', PERHAPS],
  // A server that has not seen the message cannot mean its content.
  ['RCPT TO', '550 5.7.0 Local policy', SENDER],
  ['RCPT TO', '550 rejected as spam', SENDER],
  ['.', '554 5.7.1 rejected as spam', REFUSED],
  [
    '.',
    '552-5.7.0 This message was blocked because its content presents a potential\n552 5.7.0 security issue',
    REFUSED,
  ],
  ['.', '554 spam', REFUSED],
  ['DATA', '554 5.7.1 rejected', REFUSED],
  ['RCPT TO', '554 5.7.1 rejected by policy', REFUSED],
  ['RCPT TO', '550 Administrative prohibition', REFUSED],
  // The recipient alone.
  ['RCPT TO', '550 5.1.1 <dana@example.org>: User unknown in relay recipient table', MESSAGE],
  ['RCPT TO', '550 no such user', MESSAGE],
  ['RCPT TO', '550 unknown user, says relay.example.net', MESSAGE],
  ['RCPT TO', '550 5.2.1 The account is disabled', MESSAGE],
  ['RCPT TO', '552 5.2.2 Mailbox full', MESSAGE],
  ['RCPT TO', '552 mailbox size limit exceeded', MESSAGE],
  ['RCPT TO', '550 5.4.1 Recipient address rejected: Access denied', MESSAGE],
  ['RCPT TO', '550 5.7.1 Recipient address rejected: Access denied', MESSAGE],
  ['RCPT TO', '550 5.7.1 RESOLVER.RST.AuthRequired; authentication required', MESSAGE],
  ['RCPT TO', '550 5.7.133 sender not authenticated for group', MESSAGE],
  ['RCPT TO', '550 5.7.1 The sender is blocked by the recipient', MESSAGE],
  ['RCPT TO', '550 host 5.4.5.6 said: no such user', MESSAGE],
  ['RCPT TO', '450 4.2.1 The user is receiving mail too quickly', LATER],
  ['RCPT TO', '450 greylisted', LATER],
  ['RCPT TO', '452 4.2.2 The mailbox is full', LATER],
  // Perhaps the sender: two in a row make it so.
  ['any', '450 4.7.1 too many messages from your address, slow down', PERHAPS],
  ['any', '451 4.7.1 greylisted, try again in 300 seconds', PERHAPS],
  ['any', '451 4.7.500 Server busy', PERHAPS],
  ['any', '452 4.5.3 Too many recipients', PERHAPS],
  ['any', '450 Message rate limit exceeded', PERHAPS],
  ['any', '454 4.7.1 <dana@example.org>: Relay access denied', PERHAPS],
  ['any', '421 4.7.0 Try again later, closing connection', 'transient server'],
]

it.each(REPLIES)('%s answered by %s means: %s', (at, reply, meaning) => {
  const steps = at === 'any' ? (['MAIL FROM', 'RCPT TO', 'DATA', '.'] as const) : [at]
  const found = Object.fromEntries(steps.map((step) => [step, meaningOf(step, reply)]))
  const isLater = meaning === LATER && at === 'any'
  expect(found).toEqual(
    Object.fromEntries(steps.map((step) => [step, isLater && step === 'MAIL FROM' ? PERHAPS : meaning])),
  )
})
