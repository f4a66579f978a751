/** Replies of mail servers, and whom they blame, as servers and providers document them, at each step of a message. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { smtpError } from '../../src/mail/smtp-failure.ts'

const STEPS = ['MAIL FROM', 'RCPT TO', 'DATA', '.']
/** A line for each reply: the step (`any`), the reply, and who has to wait or has failed. New replies are added there. */
const GOLDEN = 'golden/replies.txt'

/** Returns what a reply at a step means. */
function meaningOf(at: string, reply: string): string {
  const cause = Object.assign(new Error(reply), {
    command: at === '.' ? 'DATA' : at,
    response: reply,
    responseCode: Number(reply.slice(0, 3)),
  })
  const phase = at === '.' ? 'data' : 'envelope'
  const failed = smtpError(cause, phase, 'smtp://mail.example.com:587').failed
  return `${failed?.kind} ${failed?.concerns}`
}

it('a reply means what it says at its step', async () => {
  const told = readFileSync(join(import.meta.dirname, GOLDEN), 'utf8').replace(/^.*$/gm, (line) => {
    const [at = '', reply = ''] = line.split(' | ')
    if (reply === '') return line
    const steps = at === 'any' ? STEPS : [at]
    const meanings = new Set(steps.map((step) => meaningOf(step, reply.replaceAll('\\n', '\n'))))
    return `${at} | ${reply} | ${[...meanings].join(', then ')}`
  })
  await expect(told).toMatchFileSnapshot(GOLDEN)
})
