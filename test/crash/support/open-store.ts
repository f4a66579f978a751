/**
 * A program that only migrates a database to the schema of a version: `node open-store.ts FILE [SOURCES]`.
 */
import { join } from 'node:path'

const SOURCES = process.argv[3] ?? join(import.meta.dirname, '../../../src')
const { openStore } = await import(join(SOURCES, 'store/open.ts'))

const store = await openStore(process.argv[2] ?? '', new Date())
await store.close()
