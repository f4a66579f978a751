/** Parses the parts of Markdown pages that documentation tests check, by GitHub's rules. */

/** Returns the page with its front matter and all code blanked out. Line numbers stay the same. */
export function blankCode(text: string): string {
  return blankFences(text).replaceAll(/(`+)[^`\n]+?\1/g, (code) => `\`${'x'.repeat(code.length - 2)}\``)
}

function blankFences(text: string): string {
  const blank = (block: string): string => block.replaceAll(/[^\n]+/g, '')
  return text
    .replace(/^---\n.*?^---\n/ms, (block) => (text.startsWith(block) ? blank(block) : block))
    .replaceAll(/^( *)(`{3,})[^\n]*\n.*?^ *\2 *$/gms, blank)
}

/** Lists the targets of all links and pictures, such as `../how-to/webhooks.md#events`. */
export function listTargets(text: string): string[] {
  const prose = blankCode(text)
  const targets = [
    ...prose.matchAll(/\]\(<?([^\s()<>]+(?:\([^\s()]*\))?)>?(?: "[^"]*")?\)/g),
    ...prose.matchAll(/<(?:img|a)\b[^>]*?\b(?:src|href)="([^"]*)"/g),
    ...prose.matchAll(/^\[[^\]]+\]: (\S+)/gm),
    // The cards on the first page of the site.
    ...text.matchAll(/\blink: (\/[\w/-]+)/g),
  ]
  return targets.map(([, target = '']) => target)
}

/** Lists the anchors that GitHub makes for the headings of a page. */
export function listAnchors(text: string): ReadonlySet<string> {
  const counts = new Map<string, number>()
  const headings = [...blankFences(text).matchAll(/^#{1,6} +(.*?)(?: +#+)?$/gm)]
  const anchors = headings.map(([, heading = '']) => {
    const slug = slugOf(heading)
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  })
  const named = [...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name = '']) => name)
  return new Set([...anchors, ...named])
}

function slugOf(heading: string): string {
  return heading
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** Lists the HTML elements outside code, such as `br`. GitHub removes elements that it does not know. */
export function listElementNames(text: string): string[] {
  return [...blankCode(text).matchAll(/<\/?([a-z][\w-]*)(?=[\s/>])(?!:\/\/)/g)].map(([, name = '']) => name)
}

/** Lists the sentences of paragraphs and list items. Tables, headings and code are left out. */
export function listSentences(text: string): string[] {
  const blocks = blankCode(text)
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split(/\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.) )|\n(?=#{1,6} )|(?<=^#{1,6} [^\n]*)\n|\n(?=\|)/m)
    .map((block) => block.trim())
    .filter((block) => block !== '' && !/^(?:#|\||!\[)/.test(block))
  return blocks
    .flatMap((block) =>
      block.replace(/^(?:[-*+]|\d+\.)\s+/, '').split(/(?<=[.!?:]["”*)_`]*)\s+(?=["“*(_`]*[\p{Lu}\d`[])/u),
    )
    .filter((sentence) => countWords(sentence) > 0)
}

/** Lists every table cell of a page. */
export function listCells(text: string): string[] {
  const rows = blankCode(text)
    .split('\n')
    .filter((line) => /^\s*\|.*\|\s*$/.test(line) && !/^[\s|:-]+$/.test(line))
  return rows.flatMap((row) =>
    row
      .trim()
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  )
}

export function countWords(text: string): number {
  return text
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}
