export function compile(name: string): { abi: readonly never[]; bytecode: `0x${string}` }
