/** What an operator is told in the place of a page of the dashboard: as a page, or as text where none is asked for. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DashboardPages } from './frame.ts'
import { bareFrame, frameOf, type Said, said } from './frame.ts'

export interface Refusal {
  readonly title: string
  /** What was found, and what to do. */
  readonly text: string
  /** Path of the page that leads on, where one does. */
  readonly next?: string
}

export interface RefusalView {
  readonly title: string
  readonly text: Said
  readonly next: string | null
}

export type Refuse = (
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  refusal: Refusal,
) => FastifyReply

/** @throws LeadsheetError report_template */
export function createRefuse(pages: DashboardPages): Refuse {
  const page = pages.page<RefusalView>('error-page')
  return (request, reply, status, refusal) => {
    const { title, text, next = null } = refusal
    if (!wantsPage(request))
      return reply.code(status).type('text/plain; charset=utf-8').send(`${title}: ${text}\n`)
    // Who was let in finds the way back by the frame.
    const frame = request.visitor === null ? bareFrame(title) : frameOf(request, title, null)
    return reply
      .code(status)
      .type('text/html; charset=utf-8')
      .send(page({ title, text: said(text), next }, frame))
  }
}

/** Whether a person looks at the answer. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false
}
