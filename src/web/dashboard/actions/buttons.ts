/**
 * The actions as buttons, shown by `{{> button}}`. All buttons belong to the one form of the page frame,
 * which knows the session, so a part that is rendered once for everybody can hold them.
 */

export interface Button {
  readonly path: string
  /** The subject of the action, encoded like the query of an address. */
  readonly what: string
  readonly text: string
  /** Tells buttons with the same text apart for screen readers; empty if the text is unique. */
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
} as const

/** Reads what changed since the last sync, like the schedule does. */
export function syncButton(): Button {
  return button('sync', 'Sync now', '', {})
}

/** Reads all leads, which also finds deleted leads. */
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

/** Asks first if the recipient already has the issue. */
export function resendButton(report: string, address: string): Button {
  return button('resend', 'Send again', `${report} to ${address}`, { report, to: address })
}

export function pauseButton(report: string, address: string): Button {
  return button('pause', 'Pause', `${report} for ${address}`, { report, address, ask: 'yes' })
}

export function resumeButton(report: string, address: string): Button {
  return button('resume', 'Resume', `${report} for ${address}`, { report, address })
}

/** Asks for the address first. */
export function testButton(report: string): Button {
  return button('test', 'Send a test', report, { report })
}

function button(
  action: keyof typeof ACTION_PATHS,
  text: string,
  about: string,
  what: Record<string, string>,
): Button {
  return { path: ACTION_PATHS[action], what: new URLSearchParams(what).toString(), text, about }
}
