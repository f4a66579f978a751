/**
 * The routes of what operators do: a form of a page of ours, done once, and back to the page, which tells what became
 * of it. Machines with the token are told at once.
 */
import type { FastifyRequest } from 'fastify'
import { LeadsheetError } from '../../../errors.ts'
import type { Form } from '../../form.ts'
import type { Guard } from '../../guard.ts'
import { FOREIGN_FORM, FORM_TOKEN, isOwnForm } from '../../own-form.ts'
import type { OwnNames } from '../../own-names.ts'
import { ownPath } from '../../own-path.ts'
import type { Refuse } from '../../refusal.ts'
import type { AddRoutes } from '../../server.ts'
import { shortOf } from '../../session.ts'
import type { Told } from '../../told.ts'
import { ACTIONS } from '../buttons.ts'
import type { WindowPages } from '../pages.ts'
import { createAsk, needsMore } from './ask.ts'
import type { Deed, DeedDeps, Question } from './deed.ts'
import { DEEDS } from './deeds.ts'

export interface ActionDeps extends DeedDeps {
  readonly guard: Guard
  readonly names: OwnNames
  readonly refuse: Refuse
  readonly pages: WindowPages
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
