import { existsSync } from 'node:fs'

const places = [
  process.env.CHROMIUM_PATH ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** The installed Chromium; undefined without one. */
export const chromiumPath = places.find((path) => path !== '' && existsSync(path))
