/**
 * Advises what to do at a provider after its refusal, by the words of the refusal: of a token URL, of a mail server,
 * or of the provider's API. A row must fit no other provider, so it quotes words that only its own provider uses.
 */
import type { MailScheme } from './mail-url.ts'

/**
 * The words, what they mean with the page or the command by which it is corrected, and the way of sending for which
 * this holds; absent for any.
 */
type Row = readonly [words: RegExp, advice: string, only?: MailScheme]

/**
 * Returns the advice of the first row that fits; null if there is none.
 * @param words the answer, or a text that quotes it
 * @param scheme the protocol of `mail.url`, such as `graph:`
 */
export function adviceFor(words: string, scheme?: string): string | null {
  const row = ROWS.find(([pattern, , only]) => pattern.test(words) && (only === undefined || only === scheme))
  return row?.[1] ?? null
}

const GUIDE = 'docs/how-to/send-mail.md has all steps.'
const APPS = 'entra.microsoft.com > App registrations'
const EXCHANGE = 'in Exchange Online PowerShell'
const DELEGATION =
  'admin.google.com > Security > Access and data control > API controls > Manage domain-wide delegation'
const OAUTH_INSTEAD = `Log in by mail.oauth, or send by graph:. ${GUIDE}`

const ROWS: readonly Row[] = [
  // Entra: learn.microsoft.com/entra/identity-platform/reference-error-codes
  [
    /AADSTS(?:7000215|7000222)\b/,
    `Entra does not take the secret of the app: it has expired, or is the id of the secret and not its value. Make a new one at ${APPS} > Certificates & secrets, and put its value into mail.oauth.client_secret_file.`,
  ],
  [
    /AADSTS(?:700016|90002|900023)\b/,
    `Entra does not know the app in this tenant. Compare mail.oauth.client_id and the tenant in mail.oauth.token_url with ${APPS} > Overview.`,
  ],
  [
    /AADSTS7000112\b/,
    'Entra has the app turned off: see entra.microsoft.com > Enterprise applications > Properties.',
  ],
  [
    /AADSTS(?:1002012|70011|500011|28002)\b/,
    'With client_credentials, mail.oauth.scope is https://outlook.office365.com/.default for SMTP, and https://graph.microsoft.com/.default for graph:.',
  ],
  [
    /AADSTS(?:65001|90094)\b/,
    `Nobody has allowed the app its permissions. Choose Grant admin consent at ${APPS} > API permissions.`,
  ],
  [
    /AADSTS(?:70008|700082|700084|50173|70043|50078)\b/,
    'The refresh token has expired or was revoked, for example by a new password. Allow the app once more, as "Any service" in docs/how-to/log-in-to-your-crm.md says, or use client_credentials.',
  ],
  [
    /AADSTS(?:5300[0-4]|50076|50079)\b/,
    'A conditional access policy stops this login: see entra.microsoft.com > Monitoring > Sign-in logs, and except the app or the user from it, or use client_credentials.',
  ],
  // Exchange Online: learn.microsoft.com, "Fix issues with printers, scanners, and LOB applications", and MC786329
  [
    /SmtpClientAuthentication is disabled for the (?:Mailbox|Tenant)/i,
    `Microsoft 365 has SMTP with a login turned off. Turn it on for the mailbox, which goes before the tenant: \`Set-CASMailbox -Identity MAILBOX -SmtpClientAuthenticationDisabled $false\` ${EXCHANGE}, or send by graph:. ${GUIDE}`,
  ],
  [
    /basic authentication is disabled|5\.7\.30\b.{0,20}Basic authentication is not supported for Client Submission|5\.7\.139\b/is,
    `Microsoft 365 takes no password of this mailbox: basic authentication for SMTP is off (MC786329), or the security defaults or a policy of the tenant stop it (entra.microsoft.com > Monitoring > Sign-in logs). ${OAUTH_INSTEAD}`,
  ],
  [
    /5\.7\.57\b.{0,20}Client (?:was )?not authenticated/is,
    `Exchange wants a login before the message. Microsoft 365 takes no password where basic authentication is off (MC786329). ${OAUTH_INSTEAD}`,
  ],
  [
    /5\.7\.3 Authentication unsuccessful/i,
    `Exchange refused the login. On Microsoft 365 with client_credentials check: the permission SMTP.SendAsApp of Office 365 Exchange Online with admin consent (${APPS} > API permissions); \`New-ServicePrincipal\` with the Object ID of entra.microsoft.com > Enterprise applications; \`Add-MailboxPermission\` for the mailbox that is the user of mail.url; the scope https://outlook.office365.com/.default. A password is refused where basic authentication is off (MC786329). ${GUIDE}`,
  ],
  [
    /SendAsDenied|5\.7\.60\b.{0,20}Client does not have permissions to send as this sender/is,
    `The mailbox that logs in may not send as mail.from. Set mail.from to that mailbox, or let it: \`Add-RecipientPermission -Identity SENDER -Trustee MAILBOX -AccessRights SendAs\` ${EXCHANGE}.`,
  ],
  [
    /5\.7\.7(?:05|08|50)\b/,
    'Microsoft 365 has limited what the tenant sends, mostly because it is new, on trial, over its quota, or from a domain that is not registered. See security.microsoft.com > Email & collaboration > Review > Restricted entities, admin.microsoft.com > Settings > Domains, and ask the support of Microsoft.',
  ],
  [
    /OutboundSpamException|5\.1\.8\b.{0,40}bad outbound sender|5\.7\.50[12]\b.{0,40}spam/is,
    'Microsoft 365 has blocked the mailbox for what it sent: free it at security.microsoft.com > Email & collaboration > Review > Restricted entities.',
  ],
  [
    /SubmissionQuotaExceeded|5\.1\.90\b.{0,60}daily limit/is,
    'The mailbox has sent to as many recipients as Microsoft 365 lets it within 24 hours. Wait, or send to groups.',
  ],
  [
    /Access to OData is disabled|AppOnly AccessPolicy|\bErrorAccessDenied\b/,
    `The app may not send as this mailbox. Check the application permission Mail.Send of Microsoft Graph with admin consent (${APPS} > API permissions), and whether a policy excludes the mailbox: \`Test-ServicePrincipalAuthorization\` and \`Test-ApplicationAccessPolicy\` ${EXCHANGE}.`,
    'graph:',
  ],
  [
    /MailboxNotEnabledForRESTAPI|\bErrorInvalidUser\b|\bRequest_ResourceNotFound\b/,
    'Microsoft 365 has no mailbox at the address of mail.from: see admin.microsoft.com > Users > Active users for its licence, or set mail.from to a mailbox.',
    'graph:',
  ],
  // Google: support.google.com/a/answer/3726730, developers.google.com/identity/protocols/oauth2/service-account
  [
    /Client is unauthorized to retrieve access tokens using this method/,
    `Google does not let the service account act for mailboxes with this scope. Add its client id (the number) with exactly mail.oauth.scope at ${DELEGATION}. It can take a day.`,
  ],
  [
    /invalid_grant.{0,20}(?:Invalid email or User ID|Not a valid email or user ID)/is,
    'mail.oauth.subject is no mailbox of this Google Workspace: see admin.google.com > Directory > Users.',
  ],
  [
    /Invalid JWT Signature|invalid_grant.{0,20}Invalid grant: account not found/is,
    'Google does not know the key of the service account, or the account. Make a new key (JSON) at console.cloud.google.com > IAM & Admin > Service accounts > Keys, and name its file in mail.oauth.private_key_file and its client_email in mail.oauth.issuer.',
  ],
  [/Invalid JWT: Token must be a short-lived token/i, 'The clock of this machine is wrong: set it by NTP.'],
  [
    /invalid_grant.{0,20}Token has been expired or revoked/is,
    'The refresh token was revoked, or has expired: after 7 days while the app is in testing (console.cloud.google.com > Google Auth Platform > Audience). Publish the app and allow it once more, or use a service account.',
  ],
  [
    /5\.7\.9 Application-specific password required|5\.7\.14 .{0,60}(?:google\.com|gsmtp|Please log in)/is,
    `Google does not take the password of the account. Log in by mail.oauth, or send by gmail:; an app password of myaccount.google.com/apppasswords works too, where the administrator allows it. ${GUIDE}`,
  ],
  [
    /"scope" *: *"https:\/\/mail\.google\.com\/"|5\.7\.8 Username and Password not accepted|p=BadCredentials/i,
    `Google refused the login. With mail.oauth, the scope is https://mail.google.com/ in mail.oauth.scope and at ${DELEGATION}, and the user of mail.url is mail.oauth.subject. In place of a password, Google takes app passwords alone. ${GUIDE}`,
  ],
  [
    /5\.4\.5 .{0,20}Daily .{0,20}(?:sending|relay) (?:limit|quota)/is,
    'The mailbox has sent as many messages as Google lets it within 24 hours (support.google.com/a/answer/166852). Wait, or have the limit of the account raised.',
  ],
  [
    /Invalid credentials for relay|5\.7\.[01] Mail relay denied/i,
    'Google relays for addresses and machines of your Workspace alone: see admin.google.com > Apps > Google Workspace > Gmail > Routing > SMTP relay service.',
  ],
  [
    /accessNotConfigured|SERVICE_DISABLED|Gmail API has not been used in project/,
    'The Gmail API is off in the project of the service account: enable it at console.cloud.google.com > APIs & Services > Library > Gmail API.',
    'gmail:',
  ],
  [
    /insufficientPermissions|ACCESS_TOKEN_SCOPE_INSUFFICIENT|insufficient authentication scopes/i,
    `The token may not send. The scope is https://www.googleapis.com/auth/gmail.send in mail.oauth.scope and at ${DELEGATION}.`,
    'gmail:',
  ],
  [
    /Mail service not enabled|Delegation denied for/,
    'mail.oauth.subject has no Gmail, or may not be used: see admin.google.com > Directory > Users for its licence, and set it to a mailbox.',
    'gmail:',
  ],
]
