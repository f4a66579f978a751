/**
 * One PostgreSQL for all files of a run, which are processes of their own: the runner keeps it, from when the first of
 * them asks at this door. A run that needs none starts none.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import type { PostgresServer } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers with the URL of the server's superuser, or with status 500 and why there is none. */
    postgresDoor: string
  }
}

/** Called by the test runner before all; gives what it calls after all. */
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
  // What was prepared in it is of the sources as they were.
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
