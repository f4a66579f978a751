/** What the daemon does each minute for its operators. It has a lane of its own: no mail server holds it up. */
import { type NoticeDeps, noteTroubles } from './notify-operators.ts'
import { type PostDeps, pingLastRun, postWaiting } from './post-notices.ts'

/** @param onLetters called when there are letters to operators in the ledger */
export async function tellOperators(
  deps: NoticeDeps & PostDeps,
  onLetters: () => void,
  signal: AbortSignal,
): Promise<void> {
  if ((await noteTroubles(deps)) !== null) onLetters()
  await postWaiting(deps, signal)
  await pingLastRun(deps, signal)
}
