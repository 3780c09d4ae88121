/** Returns the environment variables. No other file reads or writes them. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env
}

/** Sets the largest request head. uWebSockets reads the variable once, when the first worker loads it. */
export function setHeaderLimit(bytes: number): void {
  Object.assign(process.env, { UWS_HTTP_MAX_HEADERS_SIZE: String(bytes) })
}
