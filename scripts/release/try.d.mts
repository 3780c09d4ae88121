/** Installs a package in the new folder `project`, from a registry of `files`. Returns the installed packages of its scope. */
export declare function installFrom(files: readonly string[], name: string, project: string): Promise<string[]>
