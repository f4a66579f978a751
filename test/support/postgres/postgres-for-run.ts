/**
 * One PostgreSQL server for all files of a run, which run in several processes. It is started when the first
 * test asks for it over HTTP, so a run without such tests starts none.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import type { PostgresServer } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * The URL that answers with the URL of the server's superuser, or with status 500 and the reason why
     * there is no server.
     */
    postgresDoor: string
  }
}

/** Called by the test runner before all tests. Returns the function that it calls after all tests. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let opening: Promise<PostgresServer> | null = null
  const close = async () => {
    const opened = await opening?.catch(() => null)
    opening = null
    await opened?.[Symbol.asyncDispose]()
  }
  const door = createServer(async (_, response) => {
    try {
      opening ??= openServer()
      response.end((await opening).adminUrl)
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  project.provide('postgresDoor', `http://127.0.0.1:${(door.address() as AddressInfo).port}`)
  // The prepared databases were made by the code before the edit, so they must not be used again.
  project.onTestsRerun(close)
  return async () => {
    door.closeAllConnections()
    door.close()
    await close()
  }
}

async function openServer(): Promise<PostgresServer> {
  const { openPostgresServer } = await import('./postgres-server.ts')
  return openPostgresServer(false)
}
