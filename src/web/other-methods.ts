/** What a path is asked by that it does not answer to, told apart from a path that there is not. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'] as const

type Tell = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/**
 * To be called before there are routes.
 * @returns to be called when all are there: answers with 405 what none of them does
 */
export function watchMethods(app: FastifyInstance): (tell: Tell) => void {
  const known = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    known.set(url, new Set([...(known.get(url) ?? []), ...[method].flat()]))
  })
  return (tell) => {
    for (const [url, methods] of [...known]) {
      const allow = [...methods].join(', ')
      const answer: Tell = (request, reply) => tell(request, reply.code(405).header('Allow', allow))
      const method = METHODS.filter((each) => !methods.has(each))
      app.route({ url, method, onRequest: answer, handler: answer })
    }
  }
}
