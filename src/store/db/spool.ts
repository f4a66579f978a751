/**
 * Bytes that wait to be written to the store together: in memory while they are few, and then in a file without a name,
 * so that a kill leaves nothing of them.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { errorText, LeadsheetError } from '../../errors.ts'

const MEMORY_BYTES_MAX = 8 * 2 ** 20

export interface Spool extends Disposable {
  /** Returns what reads them again, until the spool is disposed of. */
  put(bytes: Uint8Array): () => Uint8Array
}

/** @param folder of its file, on the disk where the store is */
export function openSpool(folder: string): Spool {
  let file: number | null = null
  let inMemory = 0
  let size = 0
  return {
    put(bytes) {
      const { length } = bytes
      if (inMemory + length <= MEMORY_BYTES_MAX) {
        inMemory += length
        // Of its own: what comes from a packer may be the beginning of something much larger.
        const kept = Uint8Array.from(bytes)
        return () => kept
      }
      const at = size
      size += length
      file ??= openNameless(folder)
      const open = file
      writeWhole(open, bytes, at, folder)
      return () => {
        const kept = new Uint8Array(length)
        readSync(open, kept, 0, length, at)
        return kept
      }
    },
    [Symbol.dispose]() {
      if (file !== null) closeSync(file)
      file = null
    },
  }
}

function openNameless(folder: string): number {
  try {
    const own = mkdtempSync(join(folder, '.messages-'))
    try {
      return openSync(join(own, 'bodies'), 'wx+', 0o600)
    } finally {
      rmSync(own, { recursive: true })
    }
  } catch (cause) {
    throw unwritable(folder, cause)
  }
}

function writeWhole(file: number, bytes: Uint8Array, at: number, folder: string): void {
  try {
    if (writeSync(file, bytes, 0, bytes.length, at) < bytes.length) throw new Error('the disk is full')
  } catch (cause) {
    throw unwritable(folder, cause)
  }
}

function unwritable(folder: string, cause: unknown): LeadsheetError {
  return new LeadsheetError('data_unwritable', `${folder} cannot be written: ${errorText(cause)}`, {
    hint: 'Check that it is writable by this user and has space.',
    cause,
  })
}
