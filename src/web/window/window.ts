/** What the pages of the window are made of. */
import type { Store } from '../../store/db/store.ts'
import type { WindowPages } from './pages.ts'

export interface WindowDeps {
  readonly store: Store
  readonly pages: WindowPages
  readonly now: () => Date
  /** IANA zone of the installation, in which times are told. */
  readonly timeZone: string
  /** Whether who sees the pages may also act: false where no token is set. */
  readonly canAct: boolean
}
