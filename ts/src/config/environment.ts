import { homedir, platform } from 'node:os'
import { join } from 'node:path'

/** Returns the environment variables. No other file reads or writes them. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env
}

/** Sets the largest request head. uWebSockets reads the variable once, when the first worker loads it. */
export function setHeaderLimit(bytes: number): void {
  Object.assign(process.env, { UWS_HTTP_MAX_HEADERS_SIZE: String(bytes) })
}

/** Returns the folder for files of this user that can be made again. */
export function userCacheDir(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env
  if (platform() === 'darwin') return join(homedir(), 'Library', 'Caches')
  if (platform() === 'win32') return LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local')
  return XDG_CACHE_HOME ?? join(homedir(), '.cache')
}
