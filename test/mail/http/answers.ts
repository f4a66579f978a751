/** Answers of the APIs, as their documentation and their users quote them. */
import type { ApiReply, ApiScheme } from '../../support/mail/api-server.ts'

const graph = (status: number, code: string, message: string, headers = {}): ApiReply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: { error: { code, message, innerError: { date: '2026-11-21T05:04:00', 'request-id': 'a1' } } },
})

const gmail = (status: number, reason: string, message: string, domain = 'global'): ApiReply => ({
  status,
  body: { error: { code: status, message, errors: [{ domain, reason, message }] } },
})

const ses = (status: number, type: string, message: string): ApiReply => ({
  status,
  headers: { 'x-amzn-errortype': type },
  body: { message },
})

const resend = (statusCode: number, name: string, message: string, headers = {}): ApiReply => ({
  status: statusCode,
  headers,
  body: { statusCode, name, message },
})

const PAGE = '<html><head><style>h1{}</style></head><body><h1>Service\n unavailable</h1></body></html>'

/** Answers that any API may give, or something on the way to it. */
const OF_ANY: readonly ApiReply[] = [
  { status: 200, body: '<html>Sign in to the guest network</html>' },
  { status: 200, body: {} },
  { status: 204 },
  { status: 302, headers: { location: 'https://login.example.com/' } },
  { status: 403, body: '<html>Blocked by the web filter</html>' },
  { status: 404, body: 'not found' },
  { status: 408 },
  { status: 413, body: '<html>Request Entity Too Large</html>' },
  { status: 429, headers: { 'retry-after': '7200' } },
  { status: 500, body: PAGE },
  { status: 502, body: PAGE },
  { status: 503, body: PAGE },
  { status: 503, headers: { 'retry-after': '120' }, body: PAGE },
  { status: 504, body: PAGE },
]

const OF_EACH: Readonly<Record<ApiScheme, readonly ApiReply[]>> = {
  // https://learn.microsoft.com/graph/errors, /graph/throttling, /graph/api/user-sendmail
  graph: [
    graph(
      400,
      'ErrorInvalidRecipients',
      'At least one recipient is not valid., Recipient dana@ is not resolved.',
    ),
    graph(400, 'ErrorMimeContentInvalidBase64String', 'Invalid base64 string for MIME content.'),
    graph(400, 'ErrorMessageSizeExceeded', 'The message exceeds the maximum supported size.'),
    graph(413, 'RequestEntityTooLarge', 'The request is too large.'),
    graph(401, 'InvalidAuthenticationToken', 'Access token has expired or is not yet valid.'),
    graph(403, 'ErrorAccessDenied', 'Access is denied. Check credentials and try again.'),
    graph(403, 'Authorization_RequestDenied', 'Insufficient privileges to complete the operation.'),
    graph(
      403,
      'ErrorSendAsDenied',
      'The user account which was used to submit this request does not have the right to send mail on behalf of the specified sending account., Cannot submit message.',
    ),
    graph(403, 'ErrorExceededMessageLimit', 'Cannot send mail. Daily Message/Recipient limit exceeded.'),
    graph(400, 'ErrorQuotaExceeded', 'The mailbox is full.'),
    graph(
      404,
      'MailboxNotEnabledForRESTAPI',
      'The mailbox is either inactive, soft-deleted, or is hosted on-premise.',
    ),
    graph(404, 'ErrorInvalidUser', "The requested user 'reports@example.com' is invalid."),
    graph(404, 'ResourceNotFound', 'Resource could not be discovered.'),
    graph(429, 'ApplicationThrottled', 'Application is over its MailboxConcurrency limit.', {
      'retry-after': '300',
    }),
    graph(429, 'TooManyRequests', 'Too many requests.'),
    graph(503, 'ErrorServerBusy', 'The server is too busy to process the request.'),
    graph(500, 'ErrorInternalServerError', 'An internal server error occurred. The operation failed.'),
    graph(504, 'UnknownError', ''),
  ],
  // https://developers.google.com/workspace/gmail/api/guides/handle-errors
  gmail: [
    gmail(400, 'badRequest', 'Bad Request'),
    gmail(400, 'invalidArgument', 'Invalid To header'),
    gmail(400, 'invalidArgument', 'Recipient address required'),
    gmail(400, 'invalidArgument', 'Invalid From header'),
    gmail(400, 'failedPrecondition', 'Mail service not enabled'),
    gmail(400, 'failedPrecondition', 'Precondition check failed.'),
    gmail(413, 'uploadTooLarge', 'Request Too Large'),
    gmail(401, 'authError', 'Invalid Credentials'),
    gmail(403, 'insufficientPermissions', 'Request had insufficient authentication scopes.'),
    gmail(403, 'forbidden', 'Delegation denied for reports@example.com'),
    gmail(403, 'domainPolicy', 'The domain administrators have disabled Gmail apps.'),
    gmail(
      403,
      'accessNotConfigured',
      'Gmail API has not been used in project 4711 before or it is disabled.',
      'usageLimits',
    ),
    gmail(403, 'dailyLimitExceeded', 'Daily Limit Exceeded', 'usageLimits'),
    gmail(403, 'userRateLimitExceeded', 'User Rate Limit Exceeded', 'usageLimits'),
    gmail(403, 'rateLimitExceeded', 'Rate Limit Exceeded', 'usageLimits'),
    gmail(
      429,
      'rateLimitExceeded',
      'User-rate limit exceeded.  Retry after 2026-11-21T06:04:00.000Z',
      'usageLimits',
    ),
    gmail(404, 'notFound', 'Requested entity was not found.'),
    gmail(500, 'backendError', 'Backend Error'),
    gmail(503, 'backendError', 'Backend Error'),
  ],
  // https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html, /CommonErrors.html, and
  // https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html
  ses: [
    ses(
      400,
      'MessageRejected',
      'Email address is not verified. The following identities failed the check in region EU-WEST-1: reports@example.com',
    ),
    ses(
      400,
      'MessageRejected',
      'Email address is not verified. The following identities failed the check in region EU-WEST-1: dana@example.org',
    ),
    ses(400, 'MessageRejected', 'Transaction failed: the message contains a virus.'),
    ses(400, 'BadRequestException', "Missing final '@domain'"),
    ses(400, 'BadRequestException', 'Illegal address dana@example.org'),
    ses(400, 'BadRequestException', "Message length is more than 41943040 bytes long: '52428800'."),
    ses(400, 'MailFromDomainNotVerifiedException', 'Mail FROM domain is not verified.'),
    ses(400, 'SendingPausedException', 'Account is paused.'),
    ses(400, 'AccountSuspendedException', 'Sending suspended for this account.'),
    ses(404, 'NotFoundException', 'Configuration set <a> does not exist.'),
    ses(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.'),
    ses(429, 'TooManyRequestsException', 'Daily message quota exceeded.'),
    ses(
      400,
      'LimitExceededException:http://internal.amazon.com/coral/com.amazonaws.ses/',
      'Too many instances.',
    ),
    ses(400, 'ThrottlingException', 'Rate exceeded'),
    ses(
      403,
      'AccessDeniedException',
      'User: arn:aws:iam::1:user/a is not authorized to perform: ses:SendRawEmail on resource: b',
    ),
    ses(
      403,
      'InvalidSignatureException',
      'Signature expired: 20261121T050400Z is now earlier than 20261121T060400Z (20261121T060900Z - 5 min.)',
    ),
    ses(403, 'UnrecognizedClientException', 'The security token included in the request is invalid.'),
    ses(400, 'IncompleteSignature', 'The request signature does not conform to AWS standards.'),
    ses(500, 'InternalFailure', 'The request processing has failed because of an unknown error.'),
    ses(503, 'ServiceUnavailable', 'The request has failed due to a temporary failure of the server.'),
  ],
  // https://resend.com/docs/api-reference/errors
  resend: [
    resend(
      400,
      'invalid_idempotency_key',
      'Idempotency keys, if present, must have between 1 and 256 characters.',
    ),
    resend(
      422,
      'validation_error',
      'Invalid `to` field. The email address needs to follow the `email@example.com` or `Name <email@example.com>` format.',
    ),
    resend(
      422,
      'validation_error',
      'Invalid `from` field. The email address needs to follow the `email@example.com` or `Name <email@example.com>` format.',
    ),
    resend(422, 'invalid_from_address', 'Invalid from field.'),
    resend(400, 'validation_error', 'The attachments exceed the maximum size of 40MB.'),
    resend(422, 'invalid_attachment', 'Attachment must have either a `content` or `path`.'),
    resend(422, 'missing_required_field', 'Missing `subject` field.'),
    resend(400, 'validation_error', 'API key is invalid'),
    resend(401, 'missing_api_key', 'Missing API Key'),
    resend(401, 'validation_error', 'API key is invalid'),
    resend(403, 'invalid_api_key', 'API key is invalid.'),
    resend(403, 'suspended_api_key', 'This API key is suspended'),
    resend(
      403,
      'validation_error',
      'The example.com domain is not verified. Please, add and verify your domain.',
    ),
    resend(
      403,
      'validation_error',
      'You can only send testing emails to your own email address (you@example.com).',
    ),
    resend(
      409,
      'concurrent_idempotent_requests',
      'There is another request in progress with the same idempotency key.',
    ),
    resend(
      409,
      'invalid_idempotent_request',
      "This idempotency key has been used within the last 24 hours, but the request body doesn't match.",
    ),
    resend(429, 'rate_limit_exceeded', 'Too many requests.', { 'retry-after': '90' }),
    resend(429, 'daily_quota_exceeded', 'You have exceeded your daily email sending quota.'),
    resend(429, 'monthly_quota_exceeded', 'You have exceeded your monthly email sending quota.'),
    resend(500, 'application_error', 'An unexpected error occurred.'),
    resend(503, 'service_unavailable', 'API is temporarily unavailable'),
  ],
}

export const ANSWERS: readonly (readonly [ApiScheme, ApiReply])[] = [
  ...OF_ANY.map((reply) => ['gmail', reply] as const),
  ...Object.entries(OF_EACH).flatMap(([scheme, replies]) =>
    replies.map((reply) => [scheme as ApiScheme, reply] as const),
  ),
]
