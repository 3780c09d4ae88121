/** Returns the package.json in a packed package. */
export declare function manifestOf(file: string): Readonly<Record<string, unknown>>
