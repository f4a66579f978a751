/**
 * Defines the buttons of actions, which the template `{{> button}}` shows. All buttons submit one form in the
 * page frame. Only this form depends on the session, so a part of a page can be rendered once for all users.
 */

export interface Button {
  readonly path: string
  /** The form fields that the button adds, written like a URL query. */
  readonly what: string
  readonly text: string
  /**
   * Words that only screen readers read out, because another button may have the same text; empty if none
   * has.
   */
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

/** Makes the button that starts a sync of the changes since the last sync. */
export function syncButton(): Button {
  return button('sync', 'Sync now', '', {})
}

/** Makes the button that starts a sync of all leads, which also finds deleted leads. */
export function fullSyncButton(): Button {
  return button('sync', 'Full sync', '', { full: 'yes' })
}

/** Makes the button that acknowledges an alert. `id` is the alert's number. */
export function acknowledgeButton(id: number, title: string): Button {
  return button('acknowledge', 'Acknowledge', title, { alert: String(id) })
}

/** Makes the button that sends a report which is held or waits for its data. */
export function approveButton(report: string): Button {
  return button('approve', 'Approve and send', report, { report })
}

/** Makes the button that sends the last issue again to all whose message was refused or given up. */
export function resendFailedButton(report: string): Button {
  return button('resend', 'Send to those who missed it', report, { report, to: 'failed' })
}

/**
 * Makes the button that sends the last issue again to one recipient. The user must confirm if the recipient
 * may already have the issue.
 */
export function resendButton(report: string, address: string): Button {
  return button('resend', 'Send again', `${report} to ${address}`, { report, to: address })
}

export function pauseButton(report: string, address: string): Button {
  return button('pause', 'Pause', `${report} for ${address}`, { report, address, ask: 'yes' })
}

export function resumeButton(report: string, address: string): Button {
  return button('resume', 'Resume', `${report} for ${address}`, { report, address })
}

/** Makes the button that sends a test mail of a report after asking for the address. */
export function testButton(report: string): Button {
  return button('test', 'Send a test', report, { report })
}

/** Makes the button that deletes an annotation. `id` is the annotation's number. */
export function removeAnnotationButton(id: number, about: string): Button {
  return button('removeAnnotation', 'Remove', about, { annotation: String(id) })
}

function button(
  action: keyof typeof ACTION_PATHS,
  text: string,
  about: string,
  what: Record<string, string>,
): Button {
  return { path: ACTION_PATHS[action], what: new URLSearchParams(what).toString(), text, about }
}
