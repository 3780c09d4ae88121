import { libclangEnvironment } from './libclang.mjs'

/** The environment that every cargo run of this project needs. One and the same for all, so that nothing is built twice. */
export async function cargoEnvironment() {
  return { ...process.env, ...(await libclangEnvironment()) }
}
