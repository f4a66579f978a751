/**
 * Keeps the status page up to date: the server sends rendered parts, which are merged into the page.
 * Whatever a user has unfolded, selected, focused or scrolled to stays.
 */

/** A heartbeat comes every 10 s. */
const LOST_MS = 25_000
const LOOK_MS = 5_000
const live = document.getElementById('live')
const said = document.getElementById('said')
let source = null
let heardAt = Date.now()
/** The time that the page shows. */
let shownTime = document.querySelector('#part-head time').textContent

function listen() {
  source?.close()
  source = new EventSource('/events')
  source.addEventListener('part', ({ data }) => {
    const { id, html } = JSON.parse(data)
    hear()
    show(id, html)
  })
  source.addEventListener('beat', ({ data }) => {
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

/** The sentence without its numbers: a minute that passed is not worth announcing. */
function meaning() {
  return sentence().replaceAll(/\d[\d,.]*(?: (?:s|min|h|days))?\b/g, '#')
}

/** Makes one node like another, and leaves alone what is the same. */
function merge(shown, wanted) {
  const byId = new Map([...shown.children].flatMap((child) => (child.id ? [[child.id, child]] : [])))
  let at = shown.firstChild
  for (const next of [...wanted.childNodes]) {
    const known = next.id ? byId.get(next.id) : at !== null && isAlike(at, next) ? at : undefined
    if (known === undefined) {
      shown.insertBefore(next, at)
      continue
    }
    // Removes the nodes before it, since moving it would take the focus from it.
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
    // The user decides which parts are unfolded.
    if (name === 'open' || shown.getAttribute(name) === value) continue
    if (value === null) shown.removeAttribute(name)
    else shown.setAttribute(name, value)
  }
  merge(shown, wanted)
}

/** Listens only while the page is visible. */
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
  // A refused connection is not opened again by the browser itself.
  if (source.readyState === EventSource.CLOSED || Date.now() - heardAt > 2 * LOST_MS) listen()
}, LOOK_MS)
follow()
