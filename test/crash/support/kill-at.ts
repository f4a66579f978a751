/**
 * Loaded into a program before its start (`node --import`). It numbers the moments at which a crash matters,
 * and ends the process with SIGKILL at number KILL_AT. With POINTS, it writes the names of the moments to
 * that file instead. The program does not know of it.
 */
import diagnostics from 'node:diagnostics_channel'
import fs, { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import Database from 'better-sqlite3'

const { EVERY_STATEMENT, KILL_AT, POINTS } = process.env
const killAt = Number(KILL_AT ?? 0)
/** The statements that change the file. With EVERY_STATEMENT, also those before them in the transaction. */
const STATEMENTS = EVERY_STATEMENT ? /^/ : /^\s*(commit|vacuum)\b/i

let passed = 0

function pass(name: string): void {
  passed++
  if (POINTS !== undefined) appendFileSync(POINTS, `${name}\n`)
  if (passed === killAt) process.kill(process.pid, 'SIGKILL')
}

/** Makes points before and after a call. */
function around<A extends unknown[], R>(name: string, call: (...args: A) => R): (...args: A) => R {
  return function (this: unknown, ...args: A): R {
    pass(`before ${name}`)
    const result = call.apply(this, args)
    if (result instanceof Promise) void result.then(() => pass(`after ${name}`))
    else pass(`after ${name}`)
    return result
  }
}

const { prepare } = Database.prototype
Database.prototype.prepare = function (this: Database.Database, source: string) {
  const statement = prepare.call(this, source)
  if (STATEMENTS.test(source)) {
    const name = source.trim().slice(0, 60).replace(/\s+/g, ' ')
    statement.run = around(name, statement.run)
  }
  return statement
} as typeof prepare

fs.promises.rename = around('rename', fs.promises.rename)
fs.renameSync = around('rename', fs.renameSync)
syncBuiltinESMExports()

Socket.prototype.write = around('write to a socket', Socket.prototype.write) as Socket['write']
diagnostics.subscribe('undici:request:trailers', () => pass('answer read'))
