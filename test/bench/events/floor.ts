/** The least that a receiver can do: a bare Fastify that reads the body and answers 204. Prints its address. */
import fastify from 'fastify'

const app = fastify()
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
app.post('/webhooks/leads', (_, reply) => reply.code(204).send())
console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
