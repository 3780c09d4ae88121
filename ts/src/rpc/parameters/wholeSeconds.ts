import { type Kind, quoted, refuse, shortened } from '../kind.ts'
import { wholeNumber } from './wholeNumber.ts'

/** A number of milliseconds that is a number of seconds, `maximum` at most; read in seconds. */
export function wholeSeconds(name: string, maximum: number): Kind<number> {
  const milliseconds = wholeNumber(name, maximum * 1000)
  return {
    ...milliseconds,
    expects: `milliseconds, a multiple of 1000 up to ${maximum}000`,
    read(value) {
      const read = milliseconds.read.call(this, value) / 1000
      return Number.isInteger(read) ? read : refuse(this, `Invalid ${name}: ${shortened(quoted(value))}`)
    },
  }
}
