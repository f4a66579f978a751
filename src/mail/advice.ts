/**
 * What to do at a provider after its refusal, by the words of the refusal: of a token URL, of a mail server, or of
 * the provider's API. A row must fit no other provider, so it quotes words that only its own provider uses.
 */
import type { MailScheme } from './mail-url.ts'

interface Row {
  readonly words: RegExp
  /** The way of sending for which the advice holds; absent for any. */
  readonly only?: MailScheme
  /** What the words mean, and on which page or by which command it is corrected. */
  readonly advice: string
}

/**
 * Returns the advice of the first row that fits; null if there is none.
 * @param words the answer, or a text that quotes it
 * @param scheme the protocol of `mail.url`, such as `graph:`
 */
export function adviceFor(words: string, scheme?: string): string | null {
  const row = ROWS.find(
    ({ words: pattern, only }) => pattern.test(words) && (only === undefined || only === scheme),
  )
  return row?.advice ?? null
}

const GUIDE = 'docs/how-to/send-mail.md has all steps.'
const APPS = 'entra.microsoft.com > App registrations'
const EXCHANGE = 'in Exchange Online PowerShell'
const DELEGATION =
  'admin.google.com > Security > Access and data control > API controls > Manage domain-wide delegation'
const ADMIN_CONSENT = 'Grant admin consent'
const OAUTH_INSTEAD = `Log in by mail.oauth, or send by graph:. ${GUIDE}`

/** Sources: learn.microsoft.com/entra/identity-platform/reference-error-codes */
const ENTRA: readonly Row[] = [
  {
    words: /AADSTS(?:7000215|7000222)\b/,
    advice: `Entra does not take the secret of the app: it has expired, or is the id of the secret and not its value. Make a new one at ${APPS} > Certificates & secrets, and put its value into mail.oauth.client_secret_file.`,
  },
  {
    words: /AADSTS(?:700016|90002|900023)\b/,
    advice: `Entra does not know the app in this tenant. Compare mail.oauth.client_id and the tenant in mail.oauth.token_url with ${APPS} > Overview.`,
  },
  {
    words: /AADSTS(?:1002012|70011|500011|28002)\b/,
    advice:
      'With client_credentials, mail.oauth.scope is https://outlook.office365.com/.default for SMTP, and https://graph.microsoft.com/.default for graph:.',
  },
  {
    words: /AADSTS(?:65001|90094)\b/,
    advice: `Nobody has allowed the app its permissions. Choose ${ADMIN_CONSENT} at ${APPS} > API permissions.`,
  },
  {
    words: /AADSTS(?:70008|700082|700084|50173|70043|50078)\b/,
    advice:
      'The refresh token has expired or was revoked, for example by a new password. Allow the app once more, as "Any service" in docs/how-to/log-in-to-your-crm.md says, or use client_credentials.',
  },
  {
    words: /AADSTS(?:5300[0-4]|50076|50079)\b/,
    advice:
      'A conditional access policy stops this login: see entra.microsoft.com > Monitoring > Sign-in logs, and except the app or the user from it, or use client_credentials.',
  },
]

/** Sources: learn.microsoft.com, "Fix issues with printers, scanners, and LOB applications", aka.ms/smtp_auth_disabled, MC786329. */
const EXCHANGE_ONLINE: readonly Row[] = [
  {
    words: /SmtpClientAuthentication is disabled for the (?:Mailbox|Tenant)/i,
    advice: `Microsoft 365 has SMTP with a login turned off. Turn it on for the mailbox, which goes before the tenant: \`Set-CASMailbox -Identity MAILBOX -SmtpClientAuthenticationDisabled $false\` ${EXCHANGE}, or send by graph:. ${GUIDE}`,
  },
  {
    words:
      /basic authentication is disabled|5\.7\.30\b.{0,20}Basic authentication is not supported for Client Submission/is,
    advice: `Microsoft 365 takes no password of this mailbox, because basic authentication for SMTP is off (MC786329). ${OAUTH_INSTEAD}`,
  },
  {
    words: /5\.7\.139\b.{0,100}security defaults policy/is,
    advice: `The security defaults of the tenant let nobody log in with a password. ${OAUTH_INSTEAD}`,
  },
  {
    words: /5\.7\.139\b.{0,100}did not meet the criteria/is,
    advice: `A policy of the tenant stops this login: see entra.microsoft.com > Monitoring > Sign-in logs. A password is mostly stopped for good. ${OAUTH_INSTEAD}`,
  },
  {
    words: /5\.7\.139\b/,
    advice: `Microsoft 365 refused the login: see entra.microsoft.com > Monitoring > Sign-in logs. ${OAUTH_INSTEAD}`,
  },
  {
    words: /5\.7\.57\b.{0,20}Client (?:was )?not authenticated/is,
    advice: `Exchange wants a login before the message. Microsoft 365 takes no password where basic authentication is off (MC786329). ${OAUTH_INSTEAD}`,
  },
  {
    words: /5\.7\.3 Authentication unsuccessful/i,
    advice: `Exchange refused the login. On Microsoft 365 with client_credentials check: the permission SMTP.SendAsApp of Office 365 Exchange Online with ${ADMIN_CONSENT} (${APPS} > API permissions); \`New-ServicePrincipal\` with the Object ID of entra.microsoft.com > Enterprise applications; \`Add-MailboxPermission\` for the mailbox that is the user of mail.url; the scope https://outlook.office365.com/.default. A password is refused where basic authentication is off (MC786329). ${GUIDE}`,
  },
  {
    words: /SendAsDenied|5\.7\.60\b.{0,20}Client does not have permissions to send as this sender/is,
    advice: `The mailbox that logs in may not send as mail.from. Set mail.from to that mailbox, or let it: \`Add-RecipientPermission -Identity SENDER -Trustee MAILBOX -AccessRights SendAs\` ${EXCHANGE}.`,
  },
  {
    words: /5\.7\.7(?:05|08|50)\b/,
    advice:
      'Microsoft 365 has limited what the tenant sends, mostly because it is new, on trial, over its quota, or from a domain that is not registered. See security.microsoft.com > Email & collaboration > Review > Restricted entities, admin.microsoft.com > Settings > Domains, and ask the support of Microsoft.',
  },
  {
    words: /OutboundSpamException|5\.1\.8\b.{0,40}bad outbound sender|5\.7\.50[12]\b.{0,40}spam/is,
    advice:
      'Microsoft 365 has blocked the mailbox for what it sent: free it at security.microsoft.com > Email & collaboration > Review > Restricted entities.',
  },
  {
    words: /SubmissionQuotaExceeded|5\.1\.90\b.{0,60}daily limit/is,
    advice:
      'The mailbox has sent to as many recipients as Microsoft 365 lets it within 24 hours. Wait, or send to groups.',
  },
  {
    words: /Access to OData is disabled|AppOnly AccessPolicy|\bErrorAccessDenied\b/,
    only: 'graph:',
    advice: `The app may not send as this mailbox. Check the application permission Mail.Send of Microsoft Graph with ${ADMIN_CONSENT} (${APPS} > API permissions), and whether a policy excludes the mailbox: \`Test-ServicePrincipalAuthorization\` and \`Test-ApplicationAccessPolicy\` ${EXCHANGE}.`,
  },
  {
    words: /MailboxNotEnabledForRESTAPI|\bErrorInvalidUser\b|\bRequest_ResourceNotFound\b/,
    only: 'graph:',
    advice:
      'Microsoft 365 has no mailbox at the address of mail.from: see admin.microsoft.com > Users > Active users for its licence, or set mail.from to a mailbox.',
  },
]

/** Sources: support.google.com/a/answer/3726730, developers.google.com/identity/protocols/oauth2/service-account */
const GOOGLE: readonly Row[] = [
  {
    words: /Client is unauthorized to retrieve access tokens using this method/,
    advice: `Google does not let the service account act for mailboxes with this scope. Add its client id (the number) with exactly mail.oauth.scope at ${DELEGATION}. It can take a day.`,
  },
  {
    words: /invalid_grant.{0,20}(?:Invalid email or User ID|Not a valid email or user ID)/is,
    advice:
      'mail.oauth.subject is no mailbox of this Google Workspace: see admin.google.com > Directory > Users.',
  },
  {
    words: /Invalid JWT Signature|invalid_grant.{0,20}Invalid grant: account not found/is,
    advice:
      'Google does not know the key of the service account, or the account. Make a new key (JSON) at console.cloud.google.com > IAM & Admin > Service accounts > Keys, and name its file in mail.oauth.private_key_file and its client_email in mail.oauth.issuer.',
  },
  {
    words: /Invalid JWT: Token must be a short-lived token/i,
    advice: 'The clock of this machine is wrong: let it be set by NTP.',
  },
  {
    words: /invalid_grant.{0,20}Token has been expired or revoked/is,
    advice:
      'The refresh token was revoked, or has expired: after 7 days while the app is in testing (console.cloud.google.com > Google Auth Platform > Audience). Publish the app and allow it once more, or use a service account.',
  },
  {
    words:
      /5\.7\.9 Application-specific password required|5\.7\.14 .{0,60}(?:google\.com|gsmtp|Please log in)/is,
    advice: `Google does not take the password of the account. Log in by mail.oauth, or send by gmail:; an app password of myaccount.google.com/apppasswords works too, where the administrator allows it. ${GUIDE}`,
  },
  {
    words:
      /"scope" *: *"https:\/\/mail\.google\.com\/"|5\.7\.8 Username and Password not accepted|p=BadCredentials/i,
    advice: `Google refused the login. With mail.oauth, the scope is https://mail.google.com/ in mail.oauth.scope and at ${DELEGATION}, and the user of mail.url is mail.oauth.subject. In place of a password, Google takes app passwords alone. ${GUIDE}`,
  },
  {
    words: /5\.4\.5 .{0,20}Daily .{0,20}(?:sending|relay) (?:limit|quota)/is,
    advice:
      'The mailbox has sent as many messages as Google lets it within 24 hours (support.google.com/a/answer/166852). Wait, or have the limit of the account raised.',
  },
  {
    words: /Invalid credentials for relay|5\.7\.[01] Mail relay denied/i,
    advice:
      'Google relays for addresses and machines of your Workspace alone: see admin.google.com > Apps > Google Workspace > Gmail > Routing > SMTP relay service.',
  },
  {
    words: /accessNotConfigured|SERVICE_DISABLED|Gmail API has not been used in project/,
    only: 'gmail:',
    advice:
      'The Gmail API is off in the project of the service account: enable it at console.cloud.google.com > APIs & Services > Library > Gmail API.',
  },
  {
    words: /insufficientPermissions|ACCESS_TOKEN_SCOPE_INSUFFICIENT|insufficient authentication scopes/i,
    only: 'gmail:',
    advice: `The token may not send. The scope is https://www.googleapis.com/auth/gmail.send in mail.oauth.scope and at ${DELEGATION}.`,
  },
  {
    words: /Mail service not enabled|Delegation denied for/,
    only: 'gmail:',
    advice:
      'mail.oauth.subject has no Gmail, or may not be used: see admin.google.com > Directory > Users for its licence, and set it to a mailbox.',
  },
]

const ROWS: readonly Row[] = [...ENTRA, ...EXCHANGE_ONLINE, ...GOOGLE]
