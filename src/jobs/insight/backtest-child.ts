/** The child process that tests the claims of reports on past days for the dashboard. */
import { backtest } from '../../insight/backtest.ts'
import { answerParent } from '../../store/db/subprocess.ts'

answerParent(async (given: Parameters<typeof backtest>) => backtest(...given))
