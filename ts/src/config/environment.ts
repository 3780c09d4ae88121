/** The variables of this process. Nothing else reads or writes them. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env
}

/** What uWebSockets reads once, when the first worker loads it: it takes larger heads of requests for an attack. */
export function setHeaderLimit(bytes: number): void {
  Object.assign(process.env, { UWS_HTTP_MAX_HEADERS_SIZE: String(bytes) })
}
