/**
 * The routes of what operators do: a form of a page of ours, done once, and back to the page, which tells what became
 * of it. Machines with the token are told at once.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LeadsheetError } from '../../../errors.ts'
import { FOREIGN_FORM, FORM_TOKEN, isOwnForm } from '../../auth/csrf.ts'
import type { SignInGuard } from '../../auth/require-sign-in.ts'
import { shortOf } from '../../auth/session.ts'
import type { OwnNames } from '../../server/allowed-hosts.ts'
import { ownPath } from '../../server/allowed-hosts.ts'
import type { Refuse } from '../../server/error-page.ts'
import type { DashboardPages } from '../../server/frame.ts'
import { frameOf } from '../../server/frame.ts'
import type { AddRoutes, Form } from '../../server/server.ts'
import { sendPage } from '../../server/server.ts'
import type { Told, Visitor } from '../../server/signed-in-user.ts'
import type { Deed, DeedDeps, Question } from './actions.ts'
import { DEEDS } from './actions.ts'
import { ACTIONS } from './buttons.ts'

export interface ActionDeps extends DeedDeps {
  readonly guard: SignInGuard
  readonly names: OwnNames
  readonly refuse: Refuse
  readonly pages: DashboardPages
}

type ActionRequest = FastifyRequest<{ Body: Form | undefined }>

/** Fields of every form, which say nothing of what is to be done. */
const FRAME_FIELDS: readonly string[] = [FORM_TOKEN, 'back', 'what']

export function actionRoutes(deps: ActionDeps): AddRoutes {
  const ask = createAsk(deps.pages)
  return (app) => {
    for (const action of Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]) {
      app.post(ACTIONS[action], async (request: ActionRequest, reply) => {
        const { visitor } = request
        const session = visitor?.session ?? null
        if (session !== null && !isOwnForm(request, deps.names, session.formToken))
          return deps.refuse(request, reply, 403, FOREIGN_FORM)
        const form = fieldsOf(request.body)
        const outcome = await attempt(DEEDS[action], deps, form)
        const back = ownPath(request.body?.get('back'))
        if ('ask' in outcome && session !== null) return ask(visitor, reply, outcome.ask, back)
        const told = 'ask' in outcome ? needsMore(outcome.ask) : outcome
        const who = session === null ? 'a machine with the token' : shortOf(session)
        const about = { action, fields: Object.fromEntries(form), session: who, network: request.ip }
        deps.work.log[told.isWrong ? 'warn' : 'info'](about, told.text)
        if (session === null)
          return reply
            .code(told.isWrong ? 409 : 200)
            .type('text/plain; charset=utf-8')
            .send(`${told.text}\n`)
        deps.guard.told.put(session.id, back, told)
        return reply.redirect(back, 303)
      })
    }
  }
}

/** What a form says, also where a button says it. */
function fieldsOf(body: Form | undefined): Form {
  const fields = [...(body ?? []), ...new URLSearchParams(body?.get('what'))]
  return new Map(fields.filter(([name]) => !FRAME_FIELDS.includes(name)))
}

async function attempt(deed: Deed, deps: ActionDeps, form: Form): Promise<Told | { readonly ask: Question }> {
  try {
    const outcome = await deed(deps, form)
    return 'ask' in outcome ? outcome : { text: outcome.done, isWrong: false }
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    const text = [thrown.message, thrown.hint ?? ''].join('. ').replace(/\. $/, '')
    return { text, isWrong: true }
  }
}

/* What is asked before something is done, on a page of its own: to whom, and whether really. */

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
export function createAsk(pages: DashboardPages): Ask {
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
