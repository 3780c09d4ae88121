/** Returns the path of the server; undefined if there is none. */
export declare function natsServer(): string | undefined
