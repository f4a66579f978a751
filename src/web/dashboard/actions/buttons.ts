/**
 * The actions as buttons, which any page shows by `{{> button}}`. All belong to the one form of the frame, which knows
 * the session, so that a part which is rendered once for everybody can hold them.
 */

export interface Button {
  readonly path: string
  /** The subject of the action, as the query of an address is written. */
  readonly what: string
  readonly text: string
  /** Tells several buttons apart for screen readers; empty where the text does. */
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

/** Reads what has changed since the last sync, as the schedule does. */
export function syncButton(): Button {
  return button('sync', 'Sync now', '', {})
}

/** Reads all leads, which also finds deleted ones. */
export function fullSyncButton(): Button {
  return button('sync', 'Full sync', '', { full: 'yes' })
}

/** @param id of the alert */
export function acknowledgeButton(id: number, title: string): Button {
  return button('acknowledge', 'Acknowledge', title, { alert: String(id) })
}

/** Sends a report that is held or waits. */
export function approveButton(report: string): Button {
  return button('approve', 'Approve and send', report, { report })
}

/** Sends the last issue again to everybody whose mail was refused or given up. */
export function resendFailedButton(report: string): Button {
  return button('resend', 'Send to those who missed it', report, { report, to: 'failed' })
}

/** Asks first where the recipient has it. */
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
