/** What is asked before something is done, on a page of its own: to whom, and whether really. */
import type { FastifyReply } from 'fastify'
import { sendPage } from '../../server.ts'
import type { Told } from '../../told.ts'
import type { Visitor } from '../../visitor.ts'
import { ACTIONS } from '../buttons.ts'
import { frameOf } from '../frame.ts'
import type { WindowPages } from '../pages.ts'
import type { Question } from './deed.ts'

const PATHS = {
  ...{ 'ask-test': ACTIONS.test, 'ask-pause': ACTIONS.pause, 'ask-resend': ACTIONS.resend },
} as const

/** Of those that machines are told of, what they have to say. */
const MISSING = {
  'ask-test': 'to=ADDRESS says to whom',
  'ask-pause': 'without ask=yes it is done',
  'ask-resend': 'somebody has it; confirmed=yes sends it again',
} as const

export type Ask = (
  visitor: Visitor | null,
  reply: FastifyReply,
  question: Question,
  back: string,
) => FastifyReply

/**
 * The page leads back to the one that it was asked on.
 * @throws LeadsheetError report_template
 */
export function createAsk(pages: WindowPages): Ask {
  const fill = {
    'ask-test': pages.page('ask-test'),
    'ask-pause': pages.page('ask-pause'),
    'ask-resend': pages.page('ask-resend'),
  } as const satisfies Record<Question['page'], unknown>
  return (visitor, reply, { page, title, view }, back) => {
    const path = PATHS[page]
    const frame = frameOf({ visitor, url: back }, title, null)
    return sendPage(reply, fill[page]({ ...view, title, path }, frame))
  }
}

/** The same for machines, which have all fields to begin with. */
export function needsMore({ page }: Question): Told {
  return { text: `Nothing was done: ${MISSING[page]}.`, isWrong: true }
}
