/** What every answer tells a browser to keep from doing. */

const ALWAYS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-store',
}

/** The address of a recipient's page is its key, and goes nowhere. */
export const PAGE_HEADERS = {
  ...ALWAYS,
  'Content-Security-Policy': policy([
    ...["default-src 'none'", "style-src 'self'", "form-action 'self'"],
    ...["frame-ancestors 'none'", "base-uri 'none'"],
  ]),
  'Referrer-Policy': 'no-referrer',
}

/** With no-referrer browsers would send forms without the origin, by which we know our own. */
export const WINDOW_HEADERS = {
  ...ALWAYS,
  'Content-Security-Policy': policy([
    ...["default-src 'none'", "style-src 'self'", "script-src 'self'", "connect-src 'self'"],
    ...["img-src 'self'", "frame-src 'self'", "form-action 'self'", "frame-ancestors 'none'"],
    "base-uri 'none'",
  ]),
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
}

/** Of a mail as it was sent, which only a page of ours may show in a frame: it runs nothing and loads nothing. */
export const MAIL_HEADERS = {
  ...ALWAYS,
  'Content-Security-Policy': policy([
    ...["default-src 'none'", "style-src 'unsafe-inline'", "img-src 'self' data:", 'sandbox'],
    ...["form-action 'none'", "frame-ancestors 'self'", "base-uri 'none'"],
  ]),
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'SAMEORIGIN',
}

function policy(rules: readonly string[]): string {
  return rules.join('; ')
}
