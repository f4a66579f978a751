/** The functions of jStat that the tests compare with. The package has no types of its own. */
import { createRequire } from 'node:module'

interface Jstat {
  readonly normal: {
    cdf(value: number, mean: number, deviation: number): number
    inv(probability: number, mean: number, deviation: number): number
  }
  /** The share of the gamma function below `value`. */
  lowRegGamma(shape: number, value: number): number
  /** The regularised incomplete beta function. */
  ibeta(value: number, first: number, second: number): number
}

export const { jStat }: { readonly jStat: Jstat } = createRequire(import.meta.url)('jstat')
