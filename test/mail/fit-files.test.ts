import { describe, expect, it } from 'vitest'
import type { MessageFile } from '../../src/domain/message.ts'
import { buildMessage, fitFiles } from '../../src/mail/message.ts'
import { MESSAGE } from '../support/mail/message.ts'

const MB = 1_000_000

function file(name: string, bytes: number, cid: string | null = null): MessageFile {
  return { name, contentType: 'application/octet-stream', content: Buffer.alloc(bytes, name), cid }
}

describe('the files of a mail', () => {
  it('all stay where there is room', () => {
    const files = [file('trend.png', MB, 'trend@x'), file('stalled.csv', MB), file('changes.csv', MB)]
    expect(fitFiles(files, 20 * MB)).toEqual({ kept: files, left: [] })
  })

  it('leave out what does not fit, and go on with what does', () => {
    const [small, huge, little] = [file('a.csv', MB), file('b.csv', 30 * MB), file('c.csv', MB)]
    expect(fitFiles([small, huge, little], 20 * MB)).toEqual({ kept: [small, little], left: [huge] })
  })

  it('leave out an attachment rather than a picture that the mail shows, whatever comes first', () => {
    const [attached, shown] = [file('a.csv', 4 * MB), file('trend.png', 11 * MB, 'trend@x')]
    expect(fitFiles([attached, shown], 20 * MB)).toEqual({ kept: [shown], left: [attached] })
  })

  it('are counted as they are sent, and no kept one makes the message too large', async () => {
    const html = `<p>${'語'.repeat(26_000)}</p>`
    for (const max of [2 * MB, 5 * MB]) {
      for (const name of ['stalled.csv', `${'ü'.repeat(200)}.csv`]) {
        const files = Array.from({ length: 12 }, (_, n) => file(`${n}-${name}`, 500_000))
        const { kept, left } = fitFiles(files, max)
        const size = async (carried: readonly MessageFile[]) =>
          (await buildMessage({ ...MESSAGE, html, text: html, files: carried })).length
        expect(await size(kept)).toBeLessThanOrEqual(max)
        expect(await size([...kept, ...left.slice(0, 1)])).toBeGreaterThan(max - 500_000)
      }
    }
  })
})
