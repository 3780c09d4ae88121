import { compile } from '../../docs/examples/compile.mjs'

/** The contract of the examples: a counter with an event and three kinds of errors. */
export const counter = compile('Counter')

/** Keys of the first development accounts: hashes of `cow` and `cow1`. */
export const keys = [
  '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4',
  '0x0c06818f82e04c564290b32ab86b25676731fc34e9a546108bf109194c8e3aae',
] as const
