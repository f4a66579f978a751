/** Decides why a message came back, by the code of the server and, where codes say little, by its words. */
import { blameOfReply } from '../smtp-failure.ts'
import type { BounceReason } from './notification.ts'

/** Matches an enhanced code (RFC 3463) of a failure. Four numbers are an address of the network. */
const STATUS = /(?<![\d.])([45]\.\d\.\d{1,3})(?![\d.]*\d)/g
/** Matches the code of a reply (RFC 5321), with words or an enhanced code behind it. */
const REPLY = /(?<![\d.:#-])([45][0-5]\d)(?=[ -]#?\S|:|, )/g

/**
 * Returns the enhanced code that says most. The code in the words of the last server comes before the code that
 * another server has made of it.
 * @param given the status that a report states; empty if none
 */
export function statusOf(given: string, words: string): string | null {
  const codes = [codesIn(words, STATUS)[0], /[245]\.\d{1,3}\.\d{1,3}/.exec(given)?.[0]].filter(
    (code) => code !== undefined,
  )
  return codes.find((code) => !code.endsWith('.0.0')) ?? codes.at(-1) ?? null
}

function codesIn(words: string, ...kinds: readonly RegExp[]): string[] {
  return kinds.flatMap((kind) => words.match(kind) ?? [])
}

/** Returns whether words quote the answer of a server. */
export function hasReply(words: string): boolean {
  return codesIn(words, STATUS, REPLY).length > 0
}

/** Returns whether words quote the answer of a server, and none that is for good. */
export function isTemporary(words: string): boolean {
  return hasReply(words) && codesIn(words, STATUS, REPLY).every((code) => code.startsWith('4'))
}

/* The words of servers, in the languages that they write. */

const LIMITED = /\b(?:daily|hourly|sending|outgoing|outbound)\b.{0,40}\b(?:limit|quota)\b/i
const FULL =
  /(?:mail ?box|inbox|quota|mail ?dir|mail ?folder|storage|disk ?(?:space|quota)?|postfach|buz[oó]n|bo[iî]te|destinataire|casella)\b.{0,60}(?:\bfull\b|exceed|over (?:the )?(?:allowed |disk )?(?:quota|limit)|insufficient|voll\b|überfüllt|llen[oa]|pleine|satur|piena)|over ?(?:disk ?)?quota|(?:full|vol) mail ?box|quota (?:exceeded|violation|überschritten)|exceed.{0,45}(?:quota|storage|allowed size)|not enough (?:storage|space)|insufficient (?:disk|storage|system) |space has been used up|supera la cuota/i
const SIZE =
  /(?:message|mail|file|size|nachricht|taille|mensaje)\b.{0,50}(?:too (?:large|big)|size exceeds|exceeds.{0,30}size|zu groß|trop (?:grand|volumineu)|demasiado grande|limite)|max(?:imum)? (?:message )?size/i
const CONTENT =
  /\bvirus|malware|infected|phish|trojan|banned (?:file|content|attach|name|type)|executable|(?:attachment|file type|content).{0,60}(?:not (?:allowed|permitted)|blocked|prohibited|rejected|forbidden)|content restriction|objectionable/i
const TEMPORARY =
  /expired|timed? ?out|timeout|gr[ea]y ?list|try (?:again|later)|(?:in (?:the )?queue|queued?) too long|could not (?:be )?deliver(?:ed)? for|\d attempts|(?:retry|failing) .{0,40}long|multiple retries|refused to talk|not accept (?:our|connections)|connection refused|could ?n[o']t (?:connect|contact|establish)|unable to connect|not reachable|unreachable|no route to host|(?:hop|received) count|too many (?:hops|"?received)|\bloop|temporar(?:y|ily)|abgelaufen|zeitüberschreitung|délai|expirad/i
const SENDER =
  /\bsender (?:address|domain|is not|not|rejected|verif)|\bfrom address|(?:after|reply to) mail from|\b(?:spf|dkim|dmarc|rbl|dnsbl|spamhaus|ptr)\b|(?<!they may be )(?:block|black) ?list|reverse dns|reputation|\bspam\b|unsolicited/i
/** Matches what is said of the one who sends: the sender, the server, its network or its country. */
const SENDER_SIDE =
  /\bsender(?:'s)?\b.{0,30}(?:invalid|not|unknown|unverif)|\b(?:helo|ehlo)\b|\byour (?:e-?mail address|address|domain|ip|host|server|network|country)\b|\bip address\b|\baddress \[?\d+\.\d+\.\d+\.\d+|white ?list|reverse (?:lookup|dns)/i
/** Matches what passes, whatever the code says. */
const PASSING = /\btemporar(?:y|ily)\b|maintenance|at a rate|not found, try again/i
const RECIPIENT =
  /unrout|(?:host|domain)\b.{0,50}(?:not (?:found|exist)|n't exist|unknown|invalid|non-?existent)|(?:unknown|no such|non-?existent) (?:host|domain)|name or service not known|nxdomain|no smtp service|no mx record|not accept (?:e-?)?mail|\b(?:has|have) moved|no longer (?:valid|active|in use|exist|available|accept|work|with|employ|here|at)|(?:account|mail ?box|user|address|recipient)\b.{0,60}(?:closed|suspended|deactivat|disabled|inactive|frozen|locked|terminated|unavailable|invalid|not (?:\w+ ){0,2}(?:found|exist|valid|known|listed|recogni[sz]ed|local)|n't (?:found|exist|listed|have|be found))|(?:invalid|bad|unknown|unresolvable|no such|not an? (?:valid|known|active)|incorrect) (?:final delivery )?(?:user|mail ?box|recipient|address|account|local|destination|name)|(?:user|addressee|recipient) (?:unknown|not known|invalid)|doesn't (?:exist|have an? )|no (?:mail ?box|account|one|user|such)\b|not (?:listed|present) in|not our customer|recipient address rejected|existiert nicht|unbekannt|(?:ungültige?|falsche?) (?:e-?mail-?)?adresse|empf[äa]nger.{0,60}(?:nicht|unbekannt)|inconnu|n'existe pas|introuvable|no existe|desconocid|incorrect[ao]|sconosciut|nessun utente|inesistente|não existe|onbekend|bestaat niet/i
/** Matches codes that say nothing about the recipient, so that words may; empty if there is none. */
const VAGUE = /^(?:$|[45]\.0\.|5\.[345]\.|5\.2\.0$)/

/** The first row of which all that it has fits decides. */
const REASONS: readonly {
  readonly status?: RegExp
  readonly words?: RegExp
  readonly reason: BounceReason
}[] = [
  { words: LIMITED, reason: 'sender' },
  { status: /\.2\.2$/, reason: 'full' },
  { words: FULL, reason: 'full' },
  { status: /\.(?:2\.3|3\.4)$/, reason: 'size' },
  { words: SIZE, reason: 'size' },
  { status: /^5\.6\./, reason: 'message' },
  { words: CONTENT, reason: 'message' },
  { status: /^4\.|^5\.4\.(?:[2367]|14|30\d|31[1-9])$|^5\.3\.2$/, reason: 'temporary' },
  { status: /^5\.[2-4]\./, words: PASSING, reason: 'temporary' },
  { status: /^5\.4\.(?:4|310)$/, reason: 'recipient' },
  { status: /^5\.1\.[78]$/, reason: 'sender' },
  { words: SENDER, reason: 'sender' },
  { status: /^(?:$|5\.[0235]\.|5\.1\.[02]$)/, words: SENDER_SIDE, reason: 'sender' },
  { status: VAGUE, words: TEMPORARY, reason: 'temporary' },
  { status: /^(?:$|5\.[01234]\.)/, words: RECIPIENT, reason: 'recipient' },
]
/** Mentions of both that blame neither. */
const MENTIONED = /\b(?:to (?:the )?sender|by the recipient (?:domain|server|mail server|system))\b/gi

/** @param status the enhanced code, or null */
export function reasonOf(status: string | null, text: string): BounceReason {
  const words = text.replace(MENTIONED, '')
  const row = REASONS.find(
    (each) => each.status?.test(status ?? '') !== false && each.words?.test(words) !== false,
  )
  if (row !== undefined) return row.reason
  const reply = codesIn(words, REPLY)[0] ?? '550'
  if (status === null && reply.startsWith('4')) return 'temporary'
  const blame = blameOfReply(`${reply} ${status ?? ''} ${words}`, Number(`5${reply.slice(1)}`))
  // A policy is about the sender, unless its words name the content.
  return blame === 'message' && status?.startsWith('5.7.') === true ? 'sender' : blame
}
