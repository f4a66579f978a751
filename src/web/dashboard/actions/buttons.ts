/**
 * What operators can do, as buttons that any page shows by `{{> button}}`. They belong to the one form of the
 * frame, which knows the session, so that a page which is made once for all can hold them.
 */

export interface Button {
  readonly path: string
  /** What it is done to, as the query of an address is written. */
  readonly what: string
  readonly text: string
  /** For those who hear the page: which of several it is; empty where the text says it. */
  readonly about: string
}

export const ACTIONS = {
  sync: '/actions/sync',
  acknowledge: '/actions/acknowledge',
  release: '/actions/release',
  resend: '/actions/resend',
  pause: '/actions/pause',
  resume: '/actions/resume',
  test: '/actions/test',
} as const

/** What has changed since the last one, as the schedule does it. */
export function syncButton(): Button {
  return button('sync', 'Sync now', '', {})
}

/** All leads, which also finds those that are gone. */
export function fullSyncButton(): Button {
  return button('sync', 'Read everything', '', { full: 'yes' })
}

/** @param id of the trouble */
export function acknowledgeButton(id: number, title: string): Button {
  return button('acknowledge', 'I know of it', title, { notice: String(id) })
}

/** Lets a report go that is held, or waits. */
export function releaseButton(report: string): Button {
  return button('release', 'Let it go', report, { report })
}

/** To those whose message of the last issue was refused or given up. */
export function resendFailedButton(report: string): Button {
  return button('resend', 'Send to those who missed it', report, { report, to: 'failed' })
}

/** Asks first where they have it. */
export function resendButton(report: string, address: string): Button {
  return button('resend', 'Send again', `${report} to ${address}`, { report, to: address })
}

export function pauseButton(report: string, address: string): Button {
  return button('pause', 'Pause', `${report} for ${address}`, { report, address, ask: 'yes' })
}

export function resumeButton(report: string, address: string): Button {
  return button('resume', 'Resume', `${report} for ${address}`, { report, address })
}

/** Asks to whom. */
export function testButton(report: string): Button {
  return button('test', 'Send a test', report, { report })
}

function button(
  action: keyof typeof ACTIONS,
  text: string,
  about: string,
  what: Record<string, string>,
): Button {
  return { path: ACTIONS[action], what: new URLSearchParams(what).toString(), text, about }
}
