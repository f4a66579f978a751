/** The visible text of a page of the dashboard, for golden files: a line for each block, with what buttons do. */

const BLOCK =
  /<\/?(?:p|h\d|li|ul|ol|tr|div|dt|section|br|summary|table|details|form|header|footer|nav)\b[^>]*>/g

export function shownText(html: string): string {
  const [, main = html] = /<main[^>]*>([\s\S]*)<\/main>/.exec(html) ?? []
  return main
    .replaceAll(/<(svg|style|script)[\s\S]*?<\/\1>/g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/<button([^>]*)>(.*?)<\/button>/g, (_, attributes: string, label: string) => {
      const [action = '', value = ''] = ['formaction', 'value'].map((name) => attribute(attributes, name))
      return ` [${label}: ${action} ${value}] `
    })
    .replaceAll(/<progress[^>]*aria-label="([^"]*)"([^>]*)>/g, ' [$1:$2] ')
    .replaceAll(/<a [^>]*href="([^"]*)"[^>]*>/g, ' ($1) ')
    .replaceAll(BLOCK, '\n')
    .replaceAll(/<(?:td|th|dd)\b[^>]*>/g, ' | ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#x3D;', '=')
    .replaceAll('&amp;', '&')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replaceAll(/[\d.,]+ (?:bytes|[kMG]B)\b/g, 'SIZE')
    .split('\n')
    .map((line) => line.replaceAll(/ +/g, ' ').trim())
    .filter((line) => line !== '' && line !== '|')
    .join('\n')
}

function attribute(attributes: string, name: string): string {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? ''
}
