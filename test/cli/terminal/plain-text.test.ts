import { styleText } from 'node:util'
import { describe, expect, it } from 'vitest'
import { plainText, styledText } from '../../../src/cli/terminal/table.ts'

const HOSTILE = 'a\u001b[2Jb\u001b]0;title\u0007c\u009b1Ad\re\bf'

describe('text of others on a terminal', () => {
  it('moves no cursor, clears nothing and renames no window', () => {
    expect(plainText(HOSTILE)).toBe('a [2Jb ]0;title c 1Ad e f')
    expect(styledText(HOSTILE)).toBe('a [2Jb ]0;title c 1Ad e f')
  })

  it('may be coloured by us, and laid out in lines and columns', () => {
    const text = `${styleText(['bold', 'red'], 'fail', { validateStream: false })}\tone\ntwo`
    expect(styledText(text)).toBe(text)
    expect(plainText('one\ntwo')).toBe('one\ntwo')
  })
})
