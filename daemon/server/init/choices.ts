/** What `folkmoot init` can make a project for. The first of each is the default. */
export const projectHosts = ['node', 'express', 'fastify', 'hono'] as const
export const projectStorages = ['sqlite', 'postgres', 'lowdb'] as const
export const projectLanguages = ['javascript', 'typescript'] as const

export interface Project {
  /** The name in `package.json`, and the subdomain of its network. */
  readonly name: string
  readonly host: (typeof projectHosts)[number]
  readonly storage: (typeof projectStorages)[number]
  readonly language: (typeof projectLanguages)[number]
  /** Of the network. */
  readonly title: string
  /** Of the first host. */
  readonly ownerName: string
  readonly ownerEmail: string
  /** The version of folkmoot, or the name of its tarball in the project. */
  readonly folkmoot: string
}
