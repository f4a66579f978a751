/** The child process that computes for the dashboard how often reports would have been right on past days. */
import { backtest } from '../../insight/backtest.ts'
import { answerParent } from '../../store/db/subprocess.ts'

answerParent(async (given: Parameters<typeof backtest>) => backtest(...given))
