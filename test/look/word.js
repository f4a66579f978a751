/** Runs in a page: takes away the CSS that Word, the engine of Outlook for Windows, does not know. */
function strip() {
  const unknown = [
    /^(?:display|float|gap|opacity|position|table-layout|text-overflow|word-spacing)$/,
    /^(?:max|min)-(?:width|height)$/,
    /^(?:box-|flex|overflow|white-space|background-(?!color))/,
    /radius$/,
  ]
  const cell = /^T[DH]$/
  const sized = /^(?:TABLE|TD|TH)$/
  const dropFrom = (element) => {
    const { style, tagName } = element
    const isHidden = style.display === 'none' && tagName !== 'IMG'
    for (const property of [...style]) {
      const isDropped =
        (unknown.some((pattern) => pattern.test(property)) &&
          !(property === 'max-width' && tagName === 'TABLE')) ||
        (property.startsWith('padding') && !cell.test(tagName)) ||
        (property === 'width' && !sized.test(tagName))
      if (isDropped) style.removeProperty(property)
    }
    if (isHidden) style.display = 'none'
  }
  for (const sheet of document.styleSheets) {
    for (let at = sheet.cssRules.length - 1; at >= 0; at -= 1) {
      if (sheet.cssRules[at] instanceof CSSMediaRule) sheet.deleteRule(at)
    }
  }
  for (const element of document.querySelectorAll('[style]')) dropFrom(element)
}
strip()
