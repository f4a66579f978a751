/** The error page of the dashboard: a page for browsers, a line of text for other clients. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bareFrame, type DashboardPages, frameOf, type InlineCode, withInlineCode } from './frame.ts'

export interface ErrorPage {
  readonly title: string
  /** The fault, and what to do about it. */
  readonly text: string
  /** The path of the page that leads on, if there is one. */
  readonly next?: string
}

export interface ErrorPageView {
  readonly title: string
  readonly text: InlineCode
  readonly next: string | null
}

export type SendErrorPage = (
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  page: ErrorPage,
) => FastifyReply

/** @throws LeadsheetError report_template */
export function createErrorPages(pages: DashboardPages): SendErrorPage {
  const fill = pages.page<ErrorPageView>('error-page')
  return (request, reply, status, { title, text, next = null }) => {
    if (!wantsPage(request))
      return reply.code(status).type('text/plain; charset=utf-8').send(`${title}: ${text}\n`)
    // Signed-in users get the page frame so that they can navigate back.
    const frame = request.user === null ? bareFrame(title) : frameOf(request, title, null)
    return reply
      .code(status)
      .type('text/html; charset=utf-8')
      .send(fill({ title, text: withInlineCode(text), next }, frame))
  }
}

/** Returns whether the client asks for HTML, as a browser does. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false
}
