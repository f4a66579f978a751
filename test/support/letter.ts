/** A letter to send in tests. */
import type { Letter } from '../../src/model.ts'

export const LETTER: Letter = {
  from: 'leadsheet <reports@example.com>',
  to: 'dana@example.org',
  replyTo: 'ops@example.com',
  subject: 'Daily leads: 59 new (+18%), 3 won · Fri 20 Nov',
  html: '<p>59 new leads and 3 won: “a better day”</p>',
  text: '59 new leads and 3 won\n.\na line with only a dot came before\n',
  messageId: '<k3m9@example.com>',
  date: '2026-11-21T05:04:00.000Z',
  report: 'daily',
}
