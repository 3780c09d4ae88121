export function compile(
  name: string,
  beside?: string,
  file?: string,
): { abi: readonly never[]; bytecode: `0x${string}`; deployed: `0x${string}` }
