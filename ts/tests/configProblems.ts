import { ConfigError } from '../src/config/error.ts'
import { loadConfig, type Sources } from '../src/config/load.ts'

/** Returns the problems of settings. */
export function configProblems(sources: Sources): readonly string[] {
  try {
    loadConfig(sources)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}
