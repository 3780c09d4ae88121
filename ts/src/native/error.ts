/** The addon is not there, or was built for another platform. The message says what to do. */
export class AddonMissing extends Error {
  override name = 'AddonMissing'
}

/** The HTTP server does not load with this Node.js on this system. The message is one sentence that says what would help. */
export class UnsupportedSystem extends Error {
  override name = 'UnsupportedSystem'
}
