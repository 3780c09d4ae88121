import { InvalidArgumentError } from 'commander'

/** Reads a count or a block number from an argument. */
export function wholeNumber(text: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('expected a whole number.')
}
