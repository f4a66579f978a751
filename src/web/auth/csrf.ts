/** Whether a form was sent by a page of ours: two proofs, since either alone has been got around somewhere. */
import type { FastifyRequest } from 'fastify'
import type { OwnNames } from '../server/allowed-hosts.ts'
import type { Form } from '../server/server.ts'
import { isSameText } from './session.ts'

/** The field of a form that holds the token of its session. */
export const FORM_TOKEN = 'form_token'

export const FOREIGN_FORM = {
  title: 'This form is not from here',
  text: 'Nothing was done. It was sent by another site, or stood on a page from before you signed in: go back, load the page anew and try again.',
}

export function isOwnForm(
  request: FastifyRequest<{ Body: Form | undefined }>,
  names: OwnNames,
  formToken: string,
): boolean {
  return names.isFromOwnPage(request) && isSameText(request.body?.get(FORM_TOKEN) ?? '', formToken)
}
