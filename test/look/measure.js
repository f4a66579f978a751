/** Runs in a page. Measures its width, and finds the texts and pictures that nobody could read. */
function measure() {
  /** Letters of neighbouring lines may touch. */
  const TOUCHING_PX = 2

  const luminance = (rgb) => {
    const [r, g, b] = rgb.match(/[\d.]+/g).map((value) => {
      const share = value / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor
      if (!/^rgba\(.*, 0\)$/.test(color)) return color
    }
    return matchMedia('(prefers-color-scheme: dark)').matches &&
      document.querySelector('meta[name="color-scheme"]')
      ? 'rgb(18, 18, 18)'
      : 'rgb(255, 255, 255)'
  }
  const contrastOf = (style, element) => {
    const [dark, light] = [luminance(style.color), luminance(behind(element))].sort((a, b) => a - b)
    return (light + 0.05) / (dark + 0.05)
  }
  /** The cell or paragraph that a text has to stay in. */
  const boxOf = (element) => {
    let at = element
    while (at.parentElement && /^(?:inline|contents)$/.test(getComputedStyle(at).display))
      at = at.parentElement
    return at.getBoundingClientRect()
  }
  const isOutside = (rect, box) =>
    rect.left < box.left - 1 ||
    rect.right > box.right + 1 ||
    rect.top < box.top - TOUCHING_PX ||
    rect.bottom > box.bottom + TOUCHING_PX
  const overlap = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > TOUCHING_PX

  /**
   * A word or number that must not be broken. It includes no-break spaces, and may end with a hyphen or
   * slash.
   */
  const WORD = /[^ \n\t/–—-]+[/–—-]*/g
  /** Columns that are nearer than this read as one. */
  const APART_PX = 4

  const isNear = (a, b) =>
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > TOUCHING_PX &&
    Math.max(a.left, b.left) - Math.min(a.right, b.right) < APART_PX

  const messages = []
  const cut = []
  const split = []
  const taken = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const node = walker.currentNode
    const text = node.textContent.trim().slice(0, 40)
    const element = node.parentElement
    if (!text || !element.checkVisibility()) continue
    const style = getComputedStyle(element)
    const range = document.createRange()
    range.selectNodeContents(node)
    const lines = [...range.getClientRects()].filter((line) => line.width > 1)
    for (const { 0: word, index } of node.textContent.matchAll(WORD)) {
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      const tops = [...range.getClientRects()].filter((rect) => rect.width > 0.5).map((rect) => rect.top)
      if (Math.max(...tops) - Math.min(...tops) > TOUCHING_PX) split.push(word)
    }
    const box = boxOf(element)
    if (lines.some((line) => isOutside(line, box) || line.right > innerWidth + 1)) cut.push(text)
    const cell = element.closest('td, th')
    taken.push(...lines.map((rect) => ({ text, rect, cell })))
    messages.push({
      text,
      size: Number.parseFloat(style.fontSize),
      contrast: contrastOf(style, element),
      lines: lines.map(({ x, y, width, height }) => ({ x, y: y + scrollY, width, height })),
    })
  }
  const distorted = []
  for (const image of document.images) {
    if (!image.checkVisibility()) continue
    taken.push({ text: `[${image.alt.slice(0, 40)}]`, rect: image.getBoundingClientRect() })
    if (!image.naturalWidth || !image.width) continue
    const stretch = image.width / image.height / (image.naturalWidth / image.naturalHeight)
    if (Math.abs(stretch - 1) > 0.02) distorted.push(`${image.alt.slice(0, 40)} ${stretch.toFixed(2)}`)
  }
  const near = []
  const overlapping = []
  taken.forEach((one, index) => {
    for (const other of taken.slice(index + 1)) {
      if (one.cell !== other.cell && isNear(one.rect, other.rect)) near.push(`${one.text} / ${other.text}`)
      if (overlap(one.rect, other.rect)) overlapping.push(`${one.text} / ${other.text}`)
    }
  })
  return { width: document.documentElement.scrollWidth, messages, cut, split, near, overlapping, distorted }
}
measure()
