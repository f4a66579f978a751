/**
 * Servers from npm with a list of the same leads, each in its own way: the arguments are the name of one, its port, and
 * for `graphQl` a PostgreSQL database. The others keep their data in memory.
 */
import { createServer } from 'node:http'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const [name, port, database] = process.argv.slice(2)

const HANDLERS = {
  /** OData 4: 100 records a page, a company that is asked for, decimals and long numbers as text. */
  async odata() {
    const cds = require('@sap/cds')
    Object.assign(cds.requires, {
      auth: { kind: 'basic', users: { reader: { password: 'p4ss' } } },
      db: { kind: 'sqlite', impl: '@cap-js/sqlite', credentials: { url: ':memory:' } },
    })
    const model = cds.compile(`
      entity Companies { key id : Integer; name : String; city : String; }
      @path: '/crm' @requires: 'authenticated-user' service Crm {
        @cds.query.limit.max: 100 entity Leads {
          key id : String; firstName : String; lastName : String; email : String; stage : String; score : Integer; amount : Decimal(12, 2); ratio : Double;
          views : Int64; hot : Boolean; closes : Date; callAt : Time; calledAt : DateTime; createdAt : Timestamp;
          updatedAt : Timestamp; note : String; company : Composition of one Companies;
        }
      }`)
    cds.model = cds.linked(model)
    await cds.deploy(model)
    const app = require('express')()
    await cds.serve('all').from(model).in(app)
    return app
  },

  /** JSON:API: a media type of its own, fields below `attributes` with dashes in their names, `links.next`. */
  async jsonApi() {
    const all = (type, names) => Object.fromEntries(names.split(' ').map((field) => [field, type]))
    const lead = {
      ...all(String, 'firstName lastName email stage closes callAt note'),
      ...all(Number, 'score amount ratio views'),
      ...all(Date, 'calledAt createdAt updatedAt'),
      hot: Boolean,
      company: Object,
    }
    const serializers = [[require('fortune-json-api'), { maxLimit: 60 }]]
    const listener = require('fortune-http')(require('fortune')({ lead }), { serializers })
    // Its promise is refused after it has answered with an error.
    return (request, response) => listener(request, response).catch(() => {})
  },

  /** CouchDB's search, which takes POST alone and has its parameters in the body. */
  async couchDb() {
    const MemoryDB = require('pouchdb-core')
      .plugin(require('pouchdb-adapter-memory'))
      .defaults({ adapter: 'memory' })
    const overrideMode = { include: ['routes/find'] }
    const app = require('express-pouchdb')(MemoryDB, {
      inMemoryConfig: true,
      mode: 'minimumForPouchDB',
      overrideMode,
    })
    await new MemoryDB('leads').info()
    return app
  },

  /** GraphQL: connections with `pageInfo`, decimals and long numbers as text. */
  async graphQl() {
    const pool = new (require('pg').Pool)({ connectionString: database })
    await pool.query(`
      CREATE TYPE company AS (id int, name text, city text);
      CREATE TABLE lead (
        id text PRIMARY KEY, first_name text, last_name text, email text, stage text, score int, amount numeric(12, 2), ratio float8, views bigint,
        hot boolean, closes date, call_at time, called_at timestamp, created_at timestamptz, updated_at timestamptz,
        note text, company company)`)
    return require('postgraphile').postgraphile(pool, 'public', { disableQueryLog: true })
  },
}

createServer(await HANDLERS[name]()).listen(Number(port), '127.0.0.1')
