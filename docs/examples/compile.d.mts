export function compile(name: string, beside?: string): { abi: readonly never[]; bytecode: `0x${string}` }
