import { InvalidArgumentError } from 'commander'

/** Reads a public key from an argument. An empty one, as from an unset variable, would accept any publisher. */
export function publisherKey(text: string): string {
  if (/^(0x)?0[23][0-9a-fA-F]{64}$/.test(text)) return text
  throw new InvalidArgumentError('expected 33 bytes in hex, 0x02... or 0x03....')
}
