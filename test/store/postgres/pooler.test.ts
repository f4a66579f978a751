/** A pooler in front of PostgreSQL that keeps or refuses the settings of a session. */
import { connect, createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import { withClient } from '../../support/postgres/postgres-server.ts'
import { hasPostgres, newDatabase } from '../../support/postgres.ts'
import { OPENED_AT } from '../../support/store.ts'

it.skipIf(!hasPostgres)(
  'that loses the settings of a session is told, and nothing is made elsewhere',
  async () => {
    const url = await newDatabase()
    const pooled = await startPooler(url, (client, first) => {
      const server = connect(Number(new URL(url).port), '127.0.0.1')
      // The replacement has the same length, so that the length of the message stays right.
      server.write(
        first.toString('latin1').replace('search_path=leadsheet', 'search_path=elsewhere'),
        'latin1',
      )
      client.pipe(server).pipe(client)
      for (const end of [client, server]) end.on('error', () => client.destroy())
    })
    await expect(openStore(pooled, OPENED_AT)).rejects.toMatchObject({
      code: 'store_refused',
      message: expect.stringContaining('its search_path is elsewhere, not leadsheet'),
      hint: expect.stringContaining('PgBouncer'),
    })
    const { rows } = await withClient(url, (client) =>
      client.query("SELECT nspname FROM pg_namespace WHERE nspname IN ('leadsheet', 'elsewhere')"),
    )
    expect(rows).toEqual([])
  },
)

it.skipIf(!hasPostgres)('that refuses them is told at once, and not waited for', async () => {
  const pooled = await startPooler(await newDatabase(), (client) => {
    const fields = ['SFATAL', 'C08P01', 'Munsupported startup parameter: options', ''].join('\0')
    const message = Buffer.alloc(fields.length + 6)
    message.write('E')
    message.writeInt32BE(fields.length + 5, 1)
    message.write(fields, 5)
    client.end(message)
  })
  await expect(openStore(pooled, OPENED_AT)).rejects.toMatchObject({
    code: 'store_refused',
    message: expect.stringContaining('unsupported startup parameter: options'),
    hint: expect.stringContaining('PgBouncer'),
  })
})

/** @returns the URL of the same database through the pooler */
async function startPooler(url: string, answer: (client: Socket, first: Buffer) => void): Promise<string> {
  const pooler = createServer((client) => client.once('data', (first: Buffer) => answer(client, first)))
  await new Promise<void>((resolve) => pooler.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void pooler.close())
  const address = pooler.address()
  const pooled = new URL(url)
  pooled.port = String(typeof address === 'object' ? address?.port : '')
  return pooled.href
}
