/** Forms as browsers and mail programs post them, in both ways that there are (RFC 8058, 3.2, names the two). */
import type { FastifyInstance, FastifyRequest } from 'fastify'

export type Form = ReadonlyMap<string, string>

/** Gives POST routes their body as a {@link Form}; anything else than a form is refused with 415. */
export function takeForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data']) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) =>
      parseForm(body, request.headers['content-type'] ?? ''),
    )
  }
}

/** @throws Error with the status 400 */
async function parseForm(body: Buffer, type: string): Promise<Form> {
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
    return new Map([...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
  } catch (cause) {
    throw Object.assign(new Error('the form cannot be read', { cause }), { statusCode: 400 })
  }
}
