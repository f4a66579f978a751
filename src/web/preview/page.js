/** The script of the preview page. Loads the report, and loads it again when one of its files has changed. */

const TABS = ['desktop', 'phone', 'dark', 'text', 'source']
const CUT_BYTES = 102_000
const byId = (id) => document.getElementById(id)
const tabs = [...document.querySelectorAll('[data-tab]')]
const choice = byId('choice')
const saved = new URLSearchParams(location.hash.slice(1))
let tab = TABS.includes(saved.get('tab')) ? saved.get('tab') : 'desktop'
let state = null
/** The number of the last request. Answers to earlier requests are ignored. */
let asked = 0

for (const button of tabs) button.addEventListener('click', () => choose(button.dataset.tab))
choice.addEventListener('change', () => load())
addEventListener('keydown', (event) => {
  const meant = TABS[Number(event.key) - 1]
  if (meant && !event.ctrlKey && !event.metaKey && !event.altKey && event.target.tagName !== 'SELECT')
    choose(meant)
})
const changes = new EventSource('/changes')
changes.onmessage = () => load()
// The report is also loaded when the connection to the server opens again.
changes.onopen = () => load()
changes.onerror = () => say('waiting', 'leadsheet is not running any more')

function choose(next) {
  tab = next
  show()
}

async function load() {
  const number = ++asked
  const query = new URLSearchParams(new FormData(choice))
  for (const name of ['data', 'recipient', 'locale']) {
    if (!state && saved.has(name)) query.set(name, saved.get(name))
  }
  const answer = await fetch(`/state?${query}`).then(
    (response) => response.json(),
    () => null,
  )
  if (number !== asked || answer === null) return
  state = answer
  fill(choice.elements.recipient, [['', 'everybody'], ...state.recipients.map((each) => [each, each])], query)
  fill(choice.elements.locale, [['', 'as set'], ...state.locales], query)
  choice.elements.data.value = query.get('data') || 'sample'
  show()
}

function fill(select, options, query) {
  const wanted = query.get(select.name) ?? ''
  select.replaceChildren(
    ...options.map(([value, label]) => new Option(label, value, false, value === wanted)),
  )
}

function show() {
  if (!state) return
  remember()
  document.title = `${state.report}: preview`
  byId('report').textContent = state.report
  for (const button of tabs) button.setAttribute('aria-selected', String(button.dataset.tab === tab))
  const { mistake } = state
  byId('mistake').hidden = !mistake
  byId('inbox').hidden = Boolean(mistake)
  const isMail = tab === 'desktop' || tab === 'phone' || tab === 'dark'
  byId('mail').hidden = Boolean(mistake) || !isMail
  byId('plain').hidden = Boolean(mistake) || isMail
  if (mistake) return showMistake(mistake)
  byId('from').textContent = `${state.from} to ${state.to}`
  byId('attachments').hidden = state.attachments.length === 0
  byId('attachments').textContent = `with ${state.attachments.join(', ')}`
  byId('subject').textContent = state.subject
  byId('preheader').textContent = state.preheader
  if (isMail) showMail()
  else byId('plain').textContent = tab === 'text' ? state.text : state.source
  const size = `${(state.size / 1000).toFixed(0)} KB of HTML`
  if (state.size > CUT_BYTES) return say('bad', `${size}: Gmail cuts a mail at ${CUT_BYTES / 1000} KB`)
  say('good', `${new Date().toLocaleTimeString()} · ${state.ms} ms · ${size}`)
}

function showMail() {
  const mail = byId('mail')
  const address = `/mail/${state.id}/${tab === 'dark' ? 'dark' : 'light'}`
  mail.dataset.tab = tab
  if (mail.getAttribute('src') !== address) mail.setAttribute('src', address)
}

function showMistake({ message, hint }) {
  byId('message').textContent = message
  byId('hint').textContent = hint
  say('bad', 'Fix it and save; this page follows')
}

function say(tone, text) {
  byId('status').dataset.tone = tone
  byId('status').textContent = text
}

/** Keeps the choice in the address, so that a reload or a bookmark shows the same. */
function remember() {
  const query = new URLSearchParams(new FormData(choice))
  query.set('tab', tab)
  history.replaceState(null, '', `#${query}`)
}
