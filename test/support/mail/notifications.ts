/** Mails that come back for messages of ours, as bytes: reports of servers, complaints, and answers. */
import { idOf } from '../../../src/mail/message.ts'

interface About {
  readonly messageId: string
  readonly recipient: string
  readonly subject?: string
}

interface Said {
  readonly action?: 'failed' | 'delayed' | 'delivered'
  readonly status?: string
  /** The answer of the server, in which `{to}` stands for the recipient. */
  readonly said?: string
  /** The failed address, if it is another than the recipient. */
  readonly final?: string
  /** Leaves out the ids of the message. */
  readonly isNameless?: boolean
}

/** Returns a delivery status notification (RFC 3464). */
export function statusMail({ messageId, recipient, subject = 's' }: About, said: Said = {}): string {
  const {
    action = 'failed',
    status = '5.1.1',
    said: words = '550 5.1.1 <{to}>: no such user here',
    final,
  } = said
  const ids = said.isNameless ? '' : `Message-ID: ${messageId}\nX-Leadsheet-Id: ${idOf(messageId)}\n`
  return crlf(`Return-Path: <>
From: Mail Delivery System <MAILER-DAEMON@mx.example.org>
To: reports@example.com
Date: Sat, 21 Nov 2026 08:00:00 +0000
Message-ID: <${messageId.length}.${action}.${status}.${(final ?? recipient).replace('@', '.')}@mx.example.org>
Subject: Delivery Status Notification
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: text/plain

This is the mail system at host mx.example.org.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.org

Final-Recipient: rfc822; ${final ?? recipient}
Action: ${action}
Status: ${status}
Diagnostic-Code: smtp; ${words.replaceAll('{to}', final ?? recipient)}

--b
Content-Type: text/rfc822-headers

From: reports@example.com
To: ${recipient}
Subject: ${subject}
${ids}
--b--
`)
}

/** Returns a complaint in ARF (RFC 5965). */
export function complaintMail({ messageId, recipient, subject = 's' }: About): string {
  return crlf(`From: feedback@isp.example
To: reports@example.com
Date: Sat, 21 Nov 2026 09:00:00 +0000
Subject: FW: ${subject}
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="b"

--b
Content-Type: text/plain

This is an email abuse report.
--b
Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: isp/1.0
Version: 1
Original-Rcpt-To: ${recipient}

--b
Content-Type: message/rfc822

From: reports@example.com
To: ${recipient}
Subject: ${subject}
Message-ID: ${messageId}

The report.
--b--
`)
}

/** Returns an automatic answer to a message. */
export function autoReplyMail({ messageId, recipient, subject = 's' }: About): string {
  return crlf(`From: ${recipient}
To: reports@example.com
Date: Sat, 21 Nov 2026 07:30:00 +0000
Subject: Automatic reply: ${subject}
In-Reply-To: ${messageId}
Auto-Submitted: auto-replied

I am away until Monday. 550 5.1.1
`)
}

/** Returns what the unsubscribe button of a mail program writes. */
export function unsubscribeMail(from: string, subject: string): string {
  return crlf(`From: ${from}
To: reports@example.com
Date: Sat, 21 Nov 2026 10:00:00 +0000
Message-ID: <${Buffer.from(subject).toString('hex').slice(0, 20)}.${from.replace('@', '.')}>
Subject: ${subject}

`)
}

/** Returns an ordinary mail of somebody. */
export function ordinaryMail(number: number): string {
  return crlf(`From: somebody${number}@example.net
To: reports@example.com
Date: Fri, 20 Nov 2026 10:00:00 +0000
Message-ID: <ordinary${number}@example.net>
Subject: Lunch ${number}?

Shall we meet at noon? ${'It will be fun. '.repeat(40)}
`)
}

function crlf(text: string): string {
  return text.replaceAll('\n', '\r\n')
}
