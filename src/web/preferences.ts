/** The page behind the signed link in each mail. Only a POST (RFC 8058) changes the preference. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { WebPages } from '../report/preferences/page.ts'
import {
  CHOICE_FIELD,
  ONE_CLICK,
  PREFERENCE_CHOICES,
  type PreferenceChoice,
  type PreferenceView,
} from '../report/preferences/page.ts'
import { type AddRoutes, errorPageIn, type Form, sendPage } from './server/server.ts'

/** Both functions return null if the token has no valid signature. */
interface Preferences {
  show(token: string): Promise<PreferenceView | null>
  change(token: string, choice: PreferenceChoice): Promise<PreferenceView | null>
}

const PATH = '/preferences'

interface Route {
  readonly Params: { readonly token: string }
  readonly Body: Form | undefined
}

/** Returns the URL of the preference page for a token, which names the recipient and the report. */
export function preferencesUrl(publicUrl: string, token: string): string {
  return `${publicUrl}${PATH}/${token}`
}

export function preferenceRoutes(preferences: Preferences, pages: WebPages): AddRoutes {
  /** Shows the preference. All links that are not valid get the same answer, which reveals nothing. */
  const answer = (request: FastifyRequest, reply: FastifyReply, view: PreferenceView | null) =>
    view === null
      ? sendPage(reply.code(404), pages.error(errorPageIn(request, 'unknown')))
      : sendPage(reply, pages.preference(view))
  return (app) => {
    app.get<Route>(`${PATH}/:token`, async (request, reply) =>
      answer(request, reply, await preferences.show(request.params.token)),
    )
    app.post<Route>(`${PATH}/:token`, async (request, reply) => {
      const choice = choiceIn(request.body)
      if (choice === null) return sendPage(reply.code(400), pages.error(errorPageIn(request, 'choice')))
      return answer(request, reply, await preferences.change(request.params.token, choice))
    })
  }
}

function choiceIn(form: Form | undefined): PreferenceChoice | null {
  if (form?.get(ONE_CLICK.name) === ONE_CLICK.value) return 'stop'
  return PREFERENCE_CHOICES.find((choice) => choice === form?.get(CHOICE_FIELD)) ?? null
}
