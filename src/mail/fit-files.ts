/**
 * Which files a mail can carry. Servers count a message as it is sent, in which files are a good third larger than
 * they are. Asked before the message is rendered, so that it can say what was left out.
 */
import type { MessageFile } from '../model.ts'

export interface FittedFiles {
  readonly kept: readonly MessageFile[]
  /** Attachments for which there was no room. */
  readonly left: readonly MessageFile[]
}

/** For header, text and HTML: a message is rendered to less than 80 kB of HTML, which some alphabets triple. */
const BODY_BYTES = 500_000
/** What stands around a file. */
const PART_BYTES = 500
const LINE_CHARACTERS = 76
const LINE_BYTES = LINE_CHARACTERS + 2

/**
 * The pictures of the mail first, then attachments in their order, each that still fits: a smaller one takes the
 * place of a larger one before it.
 * @param maxBytes of the whole message
 */
export function fitFiles(files: readonly MessageFile[], maxBytes: number): FittedFiles {
  const shown = files.filter(({ cid }) => cid !== null)
  let room = maxBytes - BODY_BYTES - shown.reduce((bytes, file) => bytes + sentBytes(file), 0)
  const left = files.filter((file) => {
    if (file.cid !== null) return false
    const bytes = sentBytes(file)
    if (bytes > room) return true
    room -= bytes
    return false
  })
  return { kept: files.filter((file) => !left.includes(file)), left }
}

/** As base64 (RFC 2045, 6.8). */
function sentBytes({ content, name }: MessageFile): number {
  const characters = Math.ceil(content.length / 3) * 4
  // The name stands there twice, and each of its messages may take nine characters.
  return PART_BYTES + 18 * name.length + Math.ceil(characters / LINE_CHARACTERS) * LINE_BYTES
}
