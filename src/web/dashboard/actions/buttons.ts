/** The buttons of the dashboard. They submit the one form in the page frame. */

interface Button {
  readonly path: string
  /** The form fields that the button adds, written like a URL query. */
  readonly what: string
  readonly text: string
  readonly about: string
}

export const ACTION_PATHS = {
  sync: '/actions/sync',
  acknowledge: '/actions/acknowledge',
  approve: '/actions/approve',
  resend: '/actions/resend',
  pause: '/actions/pause',
  resume: '/actions/resume',
  test: '/actions/test',
  annotate: '/actions/annotate',
  removeAnnotation: '/actions/remove-annotation',
} as const

/** `about` is read out by screen readers, because another button may have the same text. */
export function button(
  action: keyof typeof ACTION_PATHS,
  text: string,
  about = '',
  fields: Readonly<Record<string, string>> = {},
): Button {
  return { path: ACTION_PATHS[action], what: new URLSearchParams(fields).toString(), text, about }
}

/** Makes the button that sends the last issue again, to one recipient or to all who missed it (`failed`). */
export function resendButton(report: string, to: string): Button {
  return to === 'failed'
    ? button('resend', 'Send to those who missed it', report, { report, to })
    : button('resend', 'Send again', `${report} to ${to}`, { report, to })
}
