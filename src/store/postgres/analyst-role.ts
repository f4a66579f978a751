/**
 * The roles of analysts in PostgreSQL. Such a role may read only what a snapshot (the file for analysts) has.
 * The views run with the rights of their owner, so that analysts see private tables only through the views.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { CompiledQuery, sql } from 'kysely'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import type { PostgresPlace } from '../db/postgres.ts'
import type { Store } from '../db/store.ts'
import { quoted } from '../schema/describe.ts'
import { PUBLISHED } from '../schema/published.ts'
import { VIEWS } from '../schema/views.ts'
import type { Tables } from '../tables/tables.ts'
import { textOf } from './schema-from-sqlite.ts'

/** Matches role names that never need quotes. */
const ROLE = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/
/** The number of hash rounds for a password. PostgreSQL uses the same number by default. */
const SCRAM_ROUNDS = 4096

interface AnalystRole {
  readonly role: string
  /** The password to set; null keeps the present password, or sets none for a new role. */
  readonly password: string | null
}

interface RolePlan {
  /** The SQL statements. No statement contains a password in plain text. */
  readonly statements: readonly string[]
  readonly isNew: boolean
}

/**
 * Plans the statements that create the role or correct its rights.
 * @throws LeadsheetError usage_invalid where the role is unfit for analysts
 */
async function planRole(
  db: Kysely<Tables>,
  { schema }: PostgresPlace,
  { role, password }: AnalystRole,
): Promise<RolePlan> {
  if (!ROLE.test(role)) throw unfit(role, 'small letters, digits and _ make the name of a role here')
  const found = await findRole(db, role)
  if (found?.is_mighty) throw unfit(role, 'whatever is granted, it reads everything')
  if (found?.is_own) throw unfit(role, 'the store belongs to it')
  const login = password === null ? 'LOGIN' : `LOGIN PASSWORD ${textOf(scramOf(password))}`
  const database = await readDatabase(db)
  const settings = `ALTER ROLE ${quoted(role)} IN DATABASE ${quoted(database)} SET`
  return {
    isNew: found === undefined,
    statements: [
      `${found === undefined ? 'CREATE' : 'ALTER'} ROLE ${quoted(role)} ${login}`,
      `GRANT CONNECT ON DATABASE ${quoted(database)} TO ${quoted(role)}`,
      `${settings} search_path = ${quoted(schema)}`,
      `${settings} default_transaction_read_only = on`,
      `${settings} timezone = 'UTC'`,
      ...(await listGrants(db, schema, role)),
    ],
  }
}

/**
 * Tells whether the database user of leadsheet may create roles. If not, another user has to run the
 * statements of {@link planRole}.
 */
async function mayMakeRoles(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ may: number }>`
    SELECT rolsuper OR rolcreaterole AS may FROM pg_roles WHERE rolname = current_user`.execute(db)
  return rows[0]?.may === 1
}

/** Lists the statements that grant a role exactly the rights of analysts, whatever rights it had before. */
export async function listGrants(db: Kysely<Tables>, schema: string, role: string): Promise<string[]> {
  const [space, analyst] = [quoted(schema), quoted(role)]
  const grants: string[] = []
  for (const [table, withheld] of Object.entries(PUBLISHED)) {
    const columns = withheld.length === 0 ? '' : ` (${(await listColumns(db, table, withheld)).join(', ')})`
    grants.push(`GRANT SELECT${columns} ON ${space}.${quoted(table)} TO ${analyst}`)
  }
  for (const view of Object.keys(VIEWS)) grants.push(`GRANT SELECT ON ${space}.${quoted(view)} TO ${analyst}`)
  return [
    `REVOKE ALL ON SCHEMA ${space} FROM ${analyst}`,
    `REVOKE ALL ON ALL TABLES IN SCHEMA ${space} FROM ${analyst}`,
    `REVOKE ALL ON ALL SEQUENCES IN SCHEMA ${space} FROM ${analyst}`,
    `GRANT USAGE ON SCHEMA ${space} TO ${analyst}`,
    ...grants,
  ]
}

/**
 * Lists the roles that may read all our views. When the views are replaced, these roles get the same rights
 * on the new views.
 */
export async function listReaders(db: Kysely<Tables>): Promise<string[]> {
  const ours = sql.join(Object.keys(VIEWS))
  const { rows } = await sql<{ role: string }>`
    WITH ours AS (SELECT * FROM pg_class
      WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind = 'v' AND relname IN (${ours}))
    SELECT rolname AS role FROM ours CROSS JOIN aclexplode(relacl) AS acl JOIN pg_roles ON pg_roles.oid = acl.grantee
    WHERE acl.grantee <> relowner AND privilege_type = 'SELECT'
    GROUP BY rolname HAVING count(*) = (SELECT count(*) FROM ours)`.execute(db)
  return rows.map(({ role }) => role)
}

async function listColumns(
  db: Kysely<Tables>,
  table: string,
  withheld: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`SELECT attname AS name FROM pg_attribute
    WHERE attrelid = to_regclass(${table}) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`.execute(db)
  return rows.filter(({ name }) => !withheld.includes(name)).map(({ name }) => quoted(name))
}

async function findRole(
  db: Kysely<Tables>,
  role: string,
): Promise<{ is_own: number; is_mighty: number } | undefined> {
  const { rows } = await sql<{ is_own: number; is_mighty: number }>`
    SELECT rolsuper OR pg_has_role(oid, 'pg_read_all_data', 'USAGE') AS is_mighty,
      pg_has_role(oid, (SELECT nspowner FROM pg_namespace WHERE nspname = current_schema()), 'USAGE') AS is_own
    FROM pg_roles WHERE rolname = ${role}`.execute(db)
  return rows[0]
}

async function readDatabase(db: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ name: string }>`SELECT current_database() AS name`.execute(db)
  return rows[0]?.name ?? ''
}

/**
 * Derives the hash that PostgreSQL stores instead of a password (RFC 5803). Statements contain only the hash,
 * so that no log has the password itself.
 */
function scramOf(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, SCRAM_ROUNDS, 32, 'sha256')
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest()
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64')
  const server = keyOf('Server Key').toString('base64')
  return `SCRAM-SHA-256$${SCRAM_ROUNDS}:${salt.toString('base64')}$${stored}:${server}`
}

function unfit(role: string, why: string): LeadsheetError {
  return new LeadsheetError('usage_invalid', `${JSON.stringify(role)} cannot be a role of analysts: ${why}`, {
    hint: 'Name another one, such as analysts; it is made where it is not there yet.',
  })
}

/**
 * Plans a role of analysts without creating it.
 * @throws LeadsheetError store_elsewhere for an SQLite store; usage_invalid where the role is unfit for
 * analysts
 */
export async function planAnalystRole(store: Store, role: AnalystRole): Promise<RolePlan> {
  if (store.place.kind === 'postgres') return planRole(store.db, store.place, role)
  throw new LeadsheetError('store_elsewhere', `a file has no roles, and ${store.place.file} is one`, {
    hint: 'Analysts open the snapshot, which holds nothing that is not for them.',
  })
}

/**
 * Creates a role of analysts, or corrects the rights of an existing one. After an error nothing was changed.
 * @throws LeadsheetError as {@link planAnalystRole}, and store_refused if leadsheet's database user may not
 * create roles
 */
export async function makeAnalystRole(store: Store, role: AnalystRole): Promise<RolePlan> {
  const plan = await planAnalystRole(store, role)
  if (!(await mayMakeRoles(store.db))) {
    throw new LeadsheetError('store_refused', 'the user of the store may not make or change roles', {
      hint: `Have the SQL that ${shellCommand('db grant ROLE --print')} shows run by one who may.`,
    })
  }
  await store.write(async (trx) => {
    for (const statement of plan.statements) await trx.executeQuery(CompiledQuery.raw(statement))
  })
  return plan
}
