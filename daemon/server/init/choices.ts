/** What `folkmoot init` can make a project for. The first of each is the default. */
export const projectHosts = ['node', 'express', 'fastify', 'hono'] as const
export type ProjectHost = (typeof projectHosts)[number]

export const projectStorages = ['lowdb', 'sqlite', 'postgres'] as const
export type ProjectStorage = (typeof projectStorages)[number]

export interface Project {
  /** The name in `package.json`. */
  readonly name: string
  readonly host: ProjectHost
  readonly storage: ProjectStorage
  /** The version of folkmoot. */
  readonly version: string
  /** The command that installs its packages; it names the tarball if this folkmoot came from one. */
  readonly install: string
}
