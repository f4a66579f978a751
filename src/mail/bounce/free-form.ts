/** Reads how servers say in plain text that a delivery failed, each in its own form. */
import { first, has, type Mail } from './mime.ts'
import { hasReply, isTemporary } from './reason.ts'

/** Matches the name or the address of a program that delivers mail. */
const DAEMON =
  /mailer|post ?master|daemon|mmdf|mail ?delivery|delivery ?(?:sub)?system|(?:e-?mail|mail|system|network|domain|messaging) ?(?:admin\w*|system|server|service|gateway|router|sweeper|marshal|attendant)|\bbounces?\b|\bmailadm|^administrator\b|microsoft ?exchange|groupwise|viruswall|interscan|\bimss\b|content ?filter|\bsmtp\b|mail ?scanner|non ?delivery|delivery ?(?:notification|failure|status|report)/i

/** The ways in which servers say in the subject or in their text that a message did not arrive. */
const FAILED: readonly RegExp[] = [
  // Most servers: QSBMF of qmail, Exim, Postfix, Exchange, MMDF, Domino, GroupWise, Gmail.
  /(?:not|n't|unable to|failed to|impossible to|could ?not) (?:be |been |yet )*(?:successfully )?(?:deliver|reach|relay|sent|send)/i,
  /(?:deliver\w*|transmission|transfer|mail|message)\b.{0,80}(?:fail|error|abort|unsuccessful|refus|reject|not possible|problem)/is,
  /fail.{0,45}(?:deliver|recipient|address)|undeliver|delivery (?:status )?(?:failure|notification)|addresses? failed|failure notice|non-?deliver/i,
  // Sendmail, Smail and others that return the message.
  /(?:permanent|fatal) errors?|returned (?:mail|to sender|message)|being returned|bounc(?:ed|ing)\b|\[bounce\]/i,
  // Gateways that refuse what a message contains.
  /(?:message|mail)\b.{0,80}(?:was|has been|were|is being) (?:\w+ )?(?:blocked|denied|quarantined|deleted|returned)/is,
  /(?:user|recipient|mail ?box|account|address)\b.{0,40}(?:unknown|not found|does not exist|doesn't exist|is full|over quota)|unknown (?:user|recipient)|no such (?:user|recipient|mailbox)/i,
  // German, French, Spanish, Italian, Portuguese, Dutch.
  /nicht (?:\w+ ){0,3}(?:zugestellt|zustell|übermittelt|ausgeliefert|erreicht)|unzustellbar|zustell.{0,70}(?:fehl|gescheitert|nicht)/i,
  /n['’]ai? (?:pas )?(?:pu |été )?(?:être )?(?:remi|livr|distribu|achemin|envoy|délivr)|pas pu être|non (?:remis|distribu)|échec|impossible de|retour de courrier/i,
  /no (?:se )?(?:ha |han |pudo |puede |podido |fue |fueron |ser )+.{0,20}entrega|no entregad|(?:fall[oó]|fallado|error) .{0,30}entrega|imposible entregar/i,
  /non (?:è stato possibile|recapitabile)|impossibile (?:recapitare|consegnare)|mancat[ao] (?:recapito|consegna)|não (?:entregue|foi|pôde|pode)|onbestelbaar|niet (?:bezorgd|afgeleverd)/i,
]
const DELAYED =
  /warning message only|will (?:continue|keep|be retried|retry)|attempts will continue|continue(?:s)? to (?:try|attempt)|still (?:being )?(?:try|retr|attempt)|(?:has|have) been delayed|is delayed|not yet been delivered|delayed? (?:mail|delivery|message)|not need to resend|no action is required on your part|noch nicht|weiterhin versucht|wird (?:weiter|erneut) versucht|verzögert|retardé|seguir[áe] intentando|se ha retrasado/i
const GAVE_UP = /permanent error|giving up|gave up|given up|will not be retried|no further attempts/i

/* The lines at which the returned message begins: a ruled line that says so, its header, or other words. */
const RULED = /^[\s>|]*[-=*_#+]{2}/
const RULED_RETURNED =
  /original|returned|unsent|copy|headers?\b|message text|follows?\b|below (?:this|is|the)/i
const RULED_OTHER = /transcript|reason|report|address|\blog\b/i
const RETURNED =
  /^[\s>|]*(?:(?:received|return-path|mime-version|message-id|x-leadsheet-id|dkim-signature|content-language|auto-submitted|list-id):|content-type: ?(?:message|text)\/rfc822|(?:the |your )?(?:original|returned|unsent|failed) (?:message|mail|e-mail)(?: headers?)?(?:\W|$)|(?:the |your )?(?:message |mail )?(?:text |headers? )?follows?\b|this is a copy of|below this line|body of (?:the )?message|message contents?:|en-t[êe]tes? d|encabezados? d)/i

export const ADDRESS = /[^\s<>()[\]:;,"'`=@\\/]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63})+/giu
/** Match the text before the address of a failed recipient: nothing in its line, a word for it, or anything. */
const BEFORE: readonly RegExp[] = [
  /^(?:[\s<"'*>|•-]|smtp:|mailto:|\d+\.\s)*$/i,
  /(?:\bto|recipients?|rcpt|user|for|address(?:ee)?|mailbox|account|names?|empfänger|an|adresse|destinataires?|à|destinatarios?|para|usuario|alias|host|undeliverable|dda:smtp)\b["'\s:>=]*(?:\(?\w+\)?:)?["'\s]*(?:\[?smtp:|<|\[|mailto:)*$|: *[<"]?$/iu,
  /$/,
]
const FAILURE_LENGTH = 20_000
const ADDRESSES_MAX = 50

function saysFailed(words: string): boolean {
  return FAILED.some((phrase) => phrase.test(words))
}

/** Tells whether a program that delivers mail has written the mail. */
export function isFromDaemon({ from: { name, address }, fields }: Mail): boolean {
  return isDaemon(name) || isDaemon(address) || has(fields, 'x-failed-recipients')
}

/** @param name the name of an author, or an address */
export function isDaemon(name: string): boolean {
  const [local = ''] = name.slice(0, 200).split('@')
  return DAEMON.test(local.replace(/[_.-]+/g, ' '))
}

/** Returns the addresses in the text, in lower case and without doubles. */
export function addressesIn(text: string): string[] {
  return [...new Set(text.toLowerCase().match(ADDRESS))].slice(0, ADDRESSES_MAX)
}

/**
 * Reads the statement of a server in a text of its own form. Returns null unless the mail says that a delivery failed
 * or is delayed.
 * @param isOurs tells whether an address is our own, and so no failed recipient
 * @param returnedTo the recipient of the returned message, for a text that names no failed recipient
 */
export function readFailureText(
  mail: Mail,
  isOurs: (address: string) => boolean,
  returnedTo: readonly string[],
) {
  const lines = mail.text.slice(0, FAILURE_LENGTH).split('\n')
  const end = lines.findIndex((line, index) => index > 0 && isReturned(line.slice(0, 200)))
  const told = lines.slice(0, end === -1 ? lines.length : end)
  const words = [mail.subject, '', ...told.map((line) => line.trimEnd())].join('\n')
  // A temporary answer alone proves no loss.
  const isInSubject = saysFailed(mail.subject)
  const isSoft = DELAYED.test(words) || (!isInSubject && isTemporary(words))
  const isDelayed = isSoft && !GAVE_UP.test(words)
  const isSaid = isDelayed || saysFailed(words)
  if (!isSaid && !(isFromDaemon(mail) && hasReply(words))) return null
  const isOther = (address: string) => !isOurs(address) && !isDaemon(address)
  const [sure = [], likely = [], other = []] = BEFORE.map((before) =>
    told.flatMap((line) => addressesAfter(before, line)).filter(isOther),
  )
  const failed = addressesIn(first(mail.fields, 'x-failed-recipients'))
  const recipients =
    [failed, sure, likely, returnedTo, other.slice(0, 1)].find(({ length }) => length > 0) ?? []
  return {
    kind: isDelayed ? 'delayed' : 'bounced',
    /** The failed recipients, in lower case; empty if it names none. */
    recipients: [...new Set(recipients)].slice(0, ADDRESSES_MAX),
    /** The paragraph about the recipient, with the answer of the other server. */
    said: aboutRecipient(told, recipients),
    /** All that the server wrote before the returned message. */
    words,
    /** Tells whether a returned message follows. */
    isReturn: end !== -1,
    /** Tells whether the subject says that a message did not arrive. */
    isInSubject,
  } as const
}

function isReturned(line: string): boolean {
  const isRuled = RULED.test(line) && RULED_RETURNED.test(line) && !RULED_OTHER.test(line)
  return isRuled || RETURNED.test(line)
}

/** Matches a line about the sender of the returned message. */
const OF_SENDER = /^[\s>]*(?:mail )?(?:from|sender|reply-to|return-path)\b/i

function addressesAfter(before: RegExp, line: string): string[] {
  if (OF_SENDER.test(line)) return []
  return [...line.slice(0, 1_000).toLowerCase().matchAll(ADDRESS)]
    .filter(({ index }) => before.test(line.slice(Math.max(0, index - 60), index)))
    .map(([address]) => address)
}

/** Returns the paragraph with the answer of the other server, or else the one that names the recipient. */
function aboutRecipient(told: readonly string[], recipients: readonly string[]): string {
  const paragraphs = told.join('\n').split(/\n(?:[ \t]*\n)+/)
  const isAbout = (text: string) => recipients.some((address) => text.toLowerCase().includes(address))
  const quoting = paragraphs.filter(hasReply)
  const at = paragraphs.findLastIndex(isAbout)
  const named = at === -1 ? '' : paragraphs.slice(at, at + 2).join('\n')
  const lines = (quoting.find(isAbout) ?? quoting[0] ?? named).split('\n')
  // The answer stands at the end of some long paragraphs.
  const answer = lines.join().length > 150 ? lines.findIndex(hasReply) : 0
  return lines.slice(Math.max(0, answer - 1)).join('\n')
}
