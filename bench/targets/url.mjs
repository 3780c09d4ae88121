// A node that was started outside of the benchmark: --target NAME=URL, or NAME=URL,WEBSOCKET_URL.
import { call } from '../chain/client.mjs'
import { answers, Target } from './target.mjs'

/** Splits NAME=URL or NAME=URL,WEBSOCKET_URL. */
export function readTarget(text) {
  const [, name, url, webSocketUrl] = /^([\w.-]+)=(https?:\/\/[^,]+)(?:,(wss?:\/\/.+))?$/.exec(text) ?? []
  if (name === undefined) throw new TypeError(`--target ${text}: expected NAME=URL or NAME=URL,WEBSOCKET_URL`)
  return { name, url: new URL(url).href.replace(/\/$/, ''), webSocketUrl }
}

export async function useTarget({ name, url, webSocketUrl }) {
  await answers(url)
  const version = await call(url, 'web3_clientVersion').catch(() => 'does not say')
  const isReference = /^rskj/i.test(version)
  return new Target({ name, url, webSocketUrl, isReference })
}
