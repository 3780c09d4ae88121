import { type Address, addressesOf } from './config/addresses.ts'
import { checkCertificates } from './config/certificate.ts'
import { type FleetSettings, fleetSettings } from './config/fleet.ts'
import { type NetworkSettings, networkSettings } from './config/peers.ts'
import type { Config } from './config/schema.ts'
import { checkModules } from './methods/entries.ts'
import { type RestoreSettings, restoreSettings } from './restore.ts'
import { version } from './version.ts'

/** Settings that a start takes from a configuration. */
export interface StartSettings {
  readonly network: NetworkSettings | undefined
  readonly restore: RestoreSettings | undefined
  readonly fleet: FleetSettings | undefined
  readonly addresses: readonly Address[]
  /** Hash of the certificates and keys of all addresses. */
  readonly certificates: string
}

/**
 * Checks the settings that depend on each other, and the files that they name, before a node starts or for
 * `config --check`. Throws ConfigError.
 */
export function startSettings(config: Config): StartSettings {
  const addresses = addressesOf(config)
  checkModules(config.modules, addresses)
  return {
    network: networkSettings(config),
    restore: restoreSettings(config),
    fleet: fleetSettings(config, version),
    addresses,
    certificates: checkCertificates(config),
  }
}
