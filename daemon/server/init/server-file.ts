/** `server.js` and `.env.example` of a new project: its settings and its storage. */
import type { Project, ProjectStorage } from './choices.ts'

interface StorageParts {
  readonly packages: Readonly<Record<string, string>>
  readonly imports: string
  /** Makes `storage`. */
  readonly open: string
  /** Its lines of `.env.example`. */
  readonly settings: string
  /** Its address for commands. */
  readonly address: string
}

const inDirectory = '# Where your data is kept.\nDATA=./data\n'

export const storageParts: Readonly<Record<ProjectStorage, StorageParts>> = {
  lowdb: {
    packages: {},
    imports: `import { openOutbox } from 'folkmoot/outbox'\nimport { lowdbStorage } from 'folkmoot/storage/lowdb'\n`,
    open: `  const data = setting('DATA', './data')
  const outbox = await openOutbox({ directory: \`\${data}/outbox\` })
  const storage = await lowdbStorage({ path: \`\${data}/db.json\`, outbox })
`,
    settings: inDirectory,
    address: 'lowdb:./data/db.json',
  },
  sqlite: {
    packages: {},
    imports: `import { mkdirSync } from 'node:fs'\nimport { sqliteStorage } from 'folkmoot/storage/sqlite'\n`,
    open: `  const data = setting('DATA', './data')
  mkdirSync(data, { recursive: true })
  const storage = await sqliteStorage({ path: \`\${data}/db.sqlite\` })
`,
    settings: inDirectory,
    address: 'sqlite:./data/db.sqlite',
  },
  postgres: {
    packages: { pg: '^8.23.1' },
    imports: `import { postgresStorage } from 'folkmoot/storage/postgres'\n`,
    open: `  const storage = await postgresStorage({ url: setting('DATABASE_URL', 'postgres://postgres@127.0.0.1:5432/postgres') })
`,
    settings:
      '# The database. The tables are made in its schema `folkmoot`.\nDATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres\n',
    address: 'postgres://postgres@127.0.0.1:5432/postgres',
  },
}

export const serverFile = ({ storage }: Project): string => `/** Reads the settings, starts the app, and shuts it down. */
${storageParts[storage].imports}import { startApp } from './app.js'

// A shell between npm and this process may keep a signal to itself. Then its end is the signal.
const parent = process.ppid

/** Says why the app does not start, and ends. */
function refuse(why) {
  console.error(why)
  process.exit(1)
}

/** A variable of the environment; an empty one counts as not set. */
function setting(name, fallback, pattern, meaning) {
  const value = process.env[name] || fallback
  if (pattern && !pattern.test(value)) refuse(\`\${name} must be \${meaning}, got \${value}\`)
  return value
}

async function start() {
  const publicUrl = setting('PUBLIC_URL')?.replace(/\\/$/, '')
  if (publicUrl && URL.parse(publicUrl)?.protocol !== 'https:')
    refuse(\`PUBLIC_URL must be an https address, such as https://api.example.org, got \${publicUrl}\`)
${storageParts[storage].open}  return startApp({
    storage,
    port: Number(setting('PORT', '4000', /^\\d{1,5}$/, 'a number from 0 to 65535')),
    host: setting('HOST', '127.0.0.1'),
    subdomain: setting('NETWORK', 'my-community', /^[a-z][a-z0-9-]+$/, 'lower-case letters, digits and hyphens'),
    ownerEmail: setting('OWNER_EMAIL', 'ada@example.org', /^\\S+@\\S+$/, 'an e-mail address'),
    publicUrl,
    encryptionKeys: setting('FOLKMOOT_ENCRYPTION_KEYS', '').split(/[\\s,]+/).filter(Boolean),
    onEvent: (event) => console.log(\`Received \${event.event_type} \${event.event_id}, verified\`),
  })
}

const app = await start().catch((error) => {
  if (error.syscall === 'listen' || error.code === 'ERR_SOCKET_BAD_PORT') refuse(\`\${error.message}. Set another PORT or HOST.\`)
  if (error.name === 'EncryptionError' || /encryptionKeys/.test(error.message))
    refuse(\`FOLKMOOT_ENCRYPTION_KEYS: \${error.message}\`)
  // What has a code, such as a storage that is locked, needs no stack.
  refuse(error.code ? error.message : error)
})

async function stop() {
  await app.stop()
  process.exit(0)
}
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, stop)
if (process.env.npm_lifecycle_event) setInterval(() => process.ppid === parent || process.emit('SIGTERM'), 500).unref()

console.log(\`The API: \${app.url}/admin/v1/networks/\${app.network.subdomain}\`)
if (app.token) console.log(\`Your API key, which is shown only now: \${app.token}\`)
`

export const settingsFile = ({
  storage,
}: Project): string => `# Copy this file to .env, which \`npm start\` reads. These values are the defaults.
PORT=4000
HOST=127.0.0.1
${storageParts[storage].settings}# The network that the first start makes, and its first host.
NETWORK=my-community
OWNER_EMAIL=ada@example.org
# In production: the https address that your proxy serves. Plain HTTP and webhooks to private addresses are then refused.
PUBLIC_URL=
# Encrypts keys of webhooks at rest: \`openssl rand -base64 32\`. The first key encrypts; separate several by commas.
FOLKMOOT_ENCRYPTION_KEYS=
`
