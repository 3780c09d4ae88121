/** Result of the callTracer for a failed transaction. */
export interface FailedCall {
  readonly error?: string
  readonly output?: string
  readonly revertReason?: string
}

/** `Panic(uint256)`. */
const panicSelector = '0x4e487b71'
/** Panic codes of Solidity. */
const panics: Readonly<Record<string, string>> = {
  '0x0': 'generic panic',
  '0x1': 'assertion failed',
  '0x11': 'arithmetic overflow or underflow',
  '0x12': 'division by zero',
  '0x21': 'value out of range of an enum',
  '0x22': 'badly encoded storage',
  '0x31': 'pop of an empty array',
  '0x32': 'array index out of bounds',
  '0x41': 'too much memory',
  '0x51': 'call of an uninitialised function',
}
const maxCharacters = 200

/** Returns why a transaction failed, in one line: the decoded reason of a revert, else the kind of failure. */
export function failureText(call: FailedCall | null): string {
  const { error = 'failed', output = '0x', revertReason = '' } = call ?? {}
  if (revertReason !== '') return `revert ${shown(revertReason)}`
  if (output.startsWith(panicSelector) && output.length === 74) {
    const code = `0x${BigInt(`0x${output.slice(panicSelector.length)}`).toString(16)}`
    return `panic ${code} (${panics[code] ?? 'unknown code'})`
  }
  if (output.length >= 10) return `revert with custom error ${shortened(output)}`
  return shown(error)
}

/** Replaces control characters of a text that comes from a contract, because they could control the terminal. */
export function shown(text: string): string {
  return shortened(text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?'))
}

function shortened(text: string): string {
  const characters = [...text.slice(0, 2 * maxCharacters)]
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters).join('')}...` : text
}
