/**
 * The buttons of actions, which the template `{{> button}}` shows. All buttons submit the single form of the page frame. Only
 * this form depends on the session, so a part with buttons can be rendered once for all users.
 */

export interface Button {
  readonly path: string
  /** The form fields that the button adds, encoded as a URL query. */
  readonly what: string
  readonly text: string
  /** Words that tell buttons with the same text apart for screen readers; empty if the text is unique. */
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

/** Starts a sync that reads the changes since the last sync, like a scheduled sync. */
export function syncButton(): Button {
  return button('sync', 'Sync now', '', {})
}

/** Starts a sync of all leads, which also finds deleted leads. */
export function fullSyncButton(): Button {
  return button('sync', 'Full sync', '', { full: 'yes' })
}

/** @param id the number of the alert */
export function acknowledgeButton(id: number, title: string): Button {
  return button('acknowledge', 'Acknowledge', title, { alert: String(id) })
}

/** Sends a report that is held or waits for its data. */
export function approveButton(report: string): Button {
  return button('approve', 'Approve and send', report, { report })
}

/** Sends the last issue again to all recipients whose message was refused or given up. */
export function resendFailedButton(report: string): Button {
  return button('resend', 'Send to those who missed it', report, { report, to: 'failed' })
}

/**
 * Sends the last issue again to one recipient. Asks for confirmation if the recipient may already have the
 * issue.
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

/** Sends a test of a report, after asking for the address. */
export function testButton(report: string): Button {
  return button('test', 'Send a test', report, { report })
}

/** @param id the number of the annotation */
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
