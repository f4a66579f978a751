/**
 * Keeps the status page up to date: the server sends rendered parts, which are merged into the page.
 * Whatever a user has unfolded, selected, focused or scrolled to stays.
 */

/**
 * The connection counts as lost after this time without a message. The server sends a heartbeat every 10 s.
 */
const LOST_MS = 25_000
const LOOK_MS = 5_000
const live = document.getElementById('live')
const said = document.getElementById('said')
let source = null
let heardAt = Date.now()
/** The time of the last update, as shown on the page. */
let shownTime = document.querySelector('#part-head time').textContent

function listen() {
  source?.close()
  source = new EventSource('/events')
  source.addEventListener('part', ({ data }) => {
    const { id, html } = JSON.parse(data)
    hear()
    show(id, html)
  })
  source.addEventListener('heartbeat', ({ data }) => {
    shownTime = data
    hear()
  })
}

function hear() {
  heardAt = Date.now()
  live.className = 'live on'
  live.textContent = 'Live'
}

function showLost() {
  live.className = 'live lost'
  live.textContent = `No longer live since ${shownTime}; trying again`
}

function show(id, html) {
  const before = meaning()
  const parsed = document.createElement('template')
  parsed.innerHTML = html
  merge(document.getElementById(id), parsed.content)
  if (meaning() !== before) said.textContent = sentence()
}

function sentence() {
  return document.querySelector('#part-head h1').textContent
}

/**
 * Returns the page's main sentence without numbers. Screen readers announce only a change of the words, not
 * each new minute.
 */
function meaning() {
  return sentence().replaceAll(/\d[\d,.]*(?: (?:s|min|h|days))?\b/g, '#')
}

/** Changes the children of `shown` until they equal those of `wanted`. Equal nodes are not touched. */
function merge(shown, wanted) {
  const byId = new Map([...shown.children].flatMap((child) => (child.id ? [[child.id, child]] : [])))
  let at = shown.firstChild
  for (const next of [...wanted.childNodes]) {
    const known = next.id ? byId.get(next.id) : at !== null && isAlike(at, next) ? at : undefined
    if (known === undefined) {
      shown.insertBefore(next, at)
      continue
    }
    // The unwanted nodes before `known` are removed, because moving `known` itself would take the focus away.
    while (at !== known && at !== null && !isWanted(at, wanted)) at = removed(at)
    if (at !== known) shown.insertBefore(known, at)
    mergeOne(known, next)
    at = known.nextSibling
  }
  while (at !== null) at = removed(at)
}

function isAlike(a, b) {
  return a.nodeName === b.nodeName && (a.id ?? '') === (b.id ?? '')
}

function isWanted(node, wanted) {
  return Boolean(node.id) && [...wanted.children].some(({ id }) => id === node.id)
}

function removed(node) {
  const next = node.nextSibling
  node.remove()
  return next
}

function mergeOne(shown, wanted) {
  if (!(shown instanceof Element)) {
    if (shown.nodeValue !== wanted.nodeValue) shown.nodeValue = wanted.nodeValue
    return
  }
  for (const name of new Set([...shown.getAttributeNames(), ...wanted.getAttributeNames()])) {
    const value = wanted.getAttribute(name)
    // The attribute `open` is left alone, because the user decides which parts are unfolded.
    if (name === 'open' || shown.getAttribute(name) === value) continue
    if (value === null) shown.removeAttribute(name)
    else shown.setAttribute(name, value)
  }
  merge(shown, wanted)
}

/** Listens to the server only while the page is visible. */
function follow() {
  if (document.hidden) source?.close()
  else {
    heardAt = Date.now()
    listen()
  }
}

document.addEventListener('visibilitychange', follow)
setInterval(() => {
  if (document.hidden || Date.now() - heardAt < LOST_MS) return
  showLost()
  // The connection is opened again here, because browsers do not retry a refused connection.
  if (source.readyState === EventSource.CLOSED || Date.now() - heardAt > 2 * LOST_MS) listen()
}, LOOK_MS)
follow()
