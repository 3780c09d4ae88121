/** The addon is missing or was built for another platform. The message names the remedy. */
export class AddonMissing extends Error {
  override name = 'AddonMissing'
}

/** The HTTP server does not load with this Node.js on this system. The message names the remedy in one sentence. */
export class UnsupportedSystem extends Error {
  override name = 'UnsupportedSystem'
}
