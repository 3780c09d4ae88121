/** The installed Chromium; undefined without one. */
export declare const chromiumPath: string | undefined
