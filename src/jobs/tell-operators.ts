/** What the daemon does each minute for its operators. It has a lane of its own: no mail server holds it up. */
import { type NoticeDeps, noteTroubles } from './notify-operators.ts'
import { type PostDeps, pingLastRun, postWaiting } from './post-notices.ts'

/** @param onMessages called when there are messages to operators in the ledger */
export async function tellOperators(
  deps: NoticeDeps & PostDeps,
  onMessages: () => void,
  signal: AbortSignal,
): Promise<void> {
  if ((await noteTroubles(deps)) !== null) onMessages()
  await postWaiting(deps, signal)
  await pingLastRun(deps, signal)
}
