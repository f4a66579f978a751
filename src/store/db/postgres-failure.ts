/** Turns failures of PostgreSQL into errors that an operator can act on. */
import { errorText, LeadsheetError } from '../../errors.ts'

export const POOLER_HINT =
  'Connect to PostgreSQL itself: poolers such as PgBouncer keep no settings of a session.'

/** An unknown failure is blamed on the address, which may have a wrong password or certificate. */
export function connectFailure(name: string, cause: unknown): LeadsheetError {
  const failure = postgresFailure(name, cause)
  if (failure !== null) return failure
  // Replaces the driver's error for a missing password, because only developers of the driver understand it.
  if (/client password must be/.test(errorText(cause))) {
    return new LeadsheetError('store_refused', `${name} asks for a password, and there is none`, {
      hint: 'Write it into the address of the store, percent-encoded, or have it in PGPASSWORD or ~/.pgpass.',
      cause,
    })
  }
  return new LeadsheetError('store_refused', `${name} cannot be connected to: ${errorText(cause)}`, {
    hint: 'Check the address of the store: its password, and sslmode and sslrootcert where the server has TLS.',
    cause,
  })
}

/** Returns null for a bug. */
export function postgresFailure(name: string, cause: unknown): LeadsheetError | null {
  if (cause instanceof LeadsheetError) return cause
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const text = errorText(cause)
  if (/unsupported startup parameter/.test(text)) {
    return new LeadsheetError('store_refused', `${name} does not take how we connect: ${text}`, {
      hint: POOLER_HINT,
      cause,
    })
  }
  if (isUnreachable(code, text)) {
    return new LeadsheetError('store_unreachable', `${name} cannot be reached: ${text}`, {
      hint: 'Check that PostgreSQL runs there and lets this machine in; what was committed is kept, and the work goes on when it is back.',
      cause,
    })
  }
  if (/^(28|3D000|42501|3F000)/.test(code)) {
    return new LeadsheetError('store_refused', `${name} does not let us in: ${text}`, {
      hint: 'Check user, password and database in the address of the store, and that the user may create its schema.',
      cause,
    })
  }
  if (code === '25006' || /read-write mode during recovery/.test(text)) {
    return new LeadsheetError('store_refused', `${name} can only be read now: ${text}`, {
      hint: 'It may have become a standby: have the address of the store lead to the server that takes writes.',
      cause,
    })
  }
  if (/^(40001|40P01|55P03)/.test(code)) {
    return new LeadsheetError('store_busy', `${name} stays locked by others: ${text}`, {
      hint: 'Another process holds a lock for long; `SELECT * FROM pg_stat_activity` names it.',
      cause,
    })
  }
  if (/^(53|58)/.test(code)) {
    return new LeadsheetError('data_unwritable', `${name} cannot be written: ${text}`, {
      hint: 'Look at the disk and the memory of the PostgreSQL server.',
      cause,
    })
  }
  return null
}

/** Recognizes errors of the network, of a server that starts or stops, and of a closed connection. */
function isUnreachable(code: string, text: string): boolean {
  return (
    /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/.test(
      code,
    ) ||
    /^(08|57P0|53300|25P03)/.test(code) ||
    /Connection terminated|connection timeout|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable/i.test(
      text,
    )
  )
}
