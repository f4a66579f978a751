/** A program that does nothing but bring a database to the present schema: `node open-store.ts FILE`. */
import { openStore } from '../../../src/store/open.ts'

const store = await openStore(process.argv[2] ?? '', new Date())
await store.close()
