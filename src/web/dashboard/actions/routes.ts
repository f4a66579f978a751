/** A form runs one action and returns to its page. Machines that send the token get text. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LeadsheetError } from '../../../errors.ts'
import { shortOf } from '../../auth/session.ts'
import { checkForms, type SignInGuard } from '../../auth/sign-in.ts'
import { type DashboardPages, type Flash, frameOf } from '../../server/frame.ts'
import { type AllowedHosts, safeRedirect } from '../../server/headers.ts'
import { type AddRoutes, FORM_TOKEN, type Form, sendPage } from '../../server/server.ts'
import { ACTIONS, type Action, type ActionDeps, type Question } from './actions.ts'
import { ACTION_PATHS } from './buttons.ts'

interface ActionRouteDeps extends ActionDeps {
  readonly guard: SignInGuard
  readonly hosts: AllowedHosts
  readonly pages: DashboardPages
}

type ActionRequest = FastifyRequest<{ Body: Form | undefined }>

/** The fields that every form has. They are not passed to the action. */
const FRAME_FIELDS: readonly string[] = [FORM_TOKEN, 'back', 'what']

export function actionRoutes(deps: ActionRouteDeps): AddRoutes {
  const ask = createAsk(deps.pages)
  return (app) => {
    checkForms(app, deps.hosts)
    for (const name of Object.keys(ACTION_PATHS) as (keyof typeof ACTION_PATHS)[]) {
      app.post(ACTION_PATHS[name], async (request: ActionRequest, reply) => {
        const session = request.user?.session ?? null
        const form = fieldsOf(request.body)
        const result = await attempt(ACTIONS[name], deps, form)
        const back = safeRedirect(request.body?.get('back'))
        if ('ask' in result && session !== null) return ask(request, reply, result.ask, back)
        const flash = 'ask' in result ? needsMore(result.ask) : result
        const who = session === null ? 'a machine with the token' : shortOf(session)
        const about = { action: name, fields: Object.fromEntries(form), session: who, network: request.ip }
        deps.work.log[flash.isWrong ? 'warn' : 'info'](about, flash.text)
        if (session === null)
          return reply
            .code(flash.isWrong ? 409 : 200)
            .type('text/plain; charset=utf-8')
            .send(`${flash.text}\n`)
        deps.guard.flashes.put(session.id, back, flash)
        return reply.redirect(back, 303)
      })
    }
  }
}

/** Returns the fields of the form together with those of the pressed button. */
function fieldsOf(body: Form | undefined): Form {
  const fields = [...(body ?? []), ...new URLSearchParams(body?.get('what'))]
  return new Map(fields.filter(([name]) => !FRAME_FIELDS.includes(name)))
}

async function attempt(
  action: Action,
  deps: ActionDeps,
  form: Form,
): Promise<Flash | { readonly ask: Question }> {
  try {
    const result = await action(deps, form)
    return 'ask' in result ? result : { text: result.done, isWrong: false }
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    const text = [thrown.message, thrown.hint ?? ''].join('. ').replace(/\. $/, '')
    return { text, isWrong: true }
  }
}

/** The place to which answers go, and the error for a machine, which cannot answer. */
const QUESTIONS = {
  'ask-test': { path: ACTION_PATHS.test, missing: 'to=ADDRESS says to whom' },
  'ask-pause': { path: ACTION_PATHS.pause, missing: 'without ask=yes it is done' },
  'ask-resend': {
    path: ACTION_PATHS.resend,
    missing: 'somebody has it; confirmed=yes sends it again',
  },
} as const satisfies Record<Question['page'], unknown>

/**
 * The answer leads back to the page `back`.
 * @throws LeadsheetError report_template
 */
function createAsk(pages: DashboardPages) {
  const fill = {
    'ask-test': pages.page('ask-test'),
    'ask-pause': pages.page('ask-pause'),
    'ask-resend': pages.page('ask-resend'),
  } as const satisfies Record<Question['page'], unknown>
  return ({ user }: FastifyRequest, reply: FastifyReply, { page, title, view }: Question, back: string) => {
    const frame = frameOf({ user, url: back }, title, null)
    return sendPage(reply, fill[page]({ ...view, title, path: QUESTIONS[page].path }, frame))
  }
}

/** Returns the error for a script that left out a field. A person is shown a page that asks for the field. */
function needsMore({ page }: Question): Flash {
  return { text: `Nothing was done: ${QUESTIONS[page].missing}.`, isWrong: true }
}
