/** The files of a new project. */
import { appFile, hostParts } from './app-file.ts'
import type { Project } from './choices.ts'
import { serverFile, settingsFile, storageParts } from './server-file.ts'

/** Each file by its name, in the order to read them. */
export const projectFiles = (project: Project): Readonly<Record<string, string>> => ({
  'README.md': readmeFile(project),
  'package.json': packageFile(project),
  'app.js': appFile(project.host),
  'server.js': serverFile(project),
  'receiver.js': receiverFile,
  'app.test.js': testFile,
  '.env.example': settingsFile(project),
  '.gitignore': 'node_modules/\ndata/\n.env\n',
  Containerfile: containerFile,
})

function packageFile({ name, host, storage, version }: Project): string {
  const dependencies = { folkmoot: version, ...hostParts[host].packages, ...storageParts[storage].packages }
  const manifest = {
    name,
    version: '0.0.0',
    private: true,
    type: 'module',
    engines: { node: '>=22.19' },
    scripts: { start: 'node --env-file-if-exists=.env server.js', test: 'node --test --test-force-exit --test-timeout=30000' },
    dependencies: Object.fromEntries(Object.entries(dependencies).sort()),
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

const receiverFile = `/** Receives the webhooks. In another program, give it the token and secret that \`folkmoot endpoints add\` prints. */
import { memoryStore, respond } from 'folkmoot/receiver'

/** A function that verifies a request and responds to it. \`onEvent\` is called once for each event; if it throws, the relay retries. */
export function createReceiver(endpoint, onEvent) {
  const store = memoryStore()
  return async (request) => {
    const { token, secrets } = await endpoint
    return respond(request, { token, secrets, store }, ({ event }) => onEvent(event))
  }
}
`

const testFile = `import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createClient } from 'folkmoot/client'
import { openOutbox } from 'folkmoot/outbox'
import { memoryStorage } from 'folkmoot/storage/memory'
import { startApp } from './app.js'

/** The app on a free port, with everything in memory but its outbox. */
async function start(t, onEvent) {
  const directory = await mkdtemp(join(tmpdir(), 'community-'))
  const storage = memoryStorage({ outbox: await openOutbox({ directory }) })
  const settings = { port: 0, host: '127.0.0.1', subdomain: 'my-community', ownerEmail: 'ada@example.org' }
  const app = await startApp({ storage, ...settings, onEvent })
  t.after(async () => {
    await app.stop()
    await rm(directory, { recursive: true })
  })
  return app
}

test('a new member reaches the receiver as a verified webhook', async (t) => {
  const joined = Promise.withResolvers()
  const app = await start(t, (event) => event.event_type === 'MemberJoinedHook' && joined.resolve(event))
  const client = createClient({ baseUrl: app.url, network: app.network.subdomain, token: app.token })
  const grace = await client.members.create({ email: 'grace@example.org', first_name: 'Grace', last_name: 'Oak' })
  const event = await joined.promise
  assert.equal(event.payload.member.id, grace.id)
})

test('the receiver refuses a request without a token', async (t) => {
  const app = await start(t, () => assert.fail('nothing was sent'))
  const response = await fetch(\`\${app.url}/webhooks\`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
  assert.equal(response.status, 401)
})
`

const containerFile = `FROM docker.io/library/node:24-slim
WORKDIR /app
COPY package*.json ./
RUN npm install --omit=dev && install -d -o node data
COPY *.js ./
USER node
ENV HOST=0.0.0.0
EXPOSE 4000
VOLUME /app/data
CMD ["node", "server.js"]
`

const readmeFile = ({ name, storage, install }: Project): string => `# ${name}

A community-network Admin API with its webhooks, on [folkmoot](https://github.com/folkmoot/folkmoot).

Run \`${install}\`, then \`npm test\` and \`npm start\`. The first start prints your API key. Create a member with it:

\`\`\`sh
curl http://127.0.0.1:4000/admin/v1/networks/my-community/members \\
  -H 'Authorization: Bearer YOUR_API_KEY' -H 'Content-Type: application/json' \\
  -d '{"email": "grace@example.org", "first_name": "Grace", "last_name": "Oak"}'
\`\`\`

The app then prints \`Received MemberJoinedHook …, verified\`: its relay has sent the event to \`/webhooks\`, where \`receiver.js\` has
checked the token and the signature. Replace \`onEvent\` in \`server.js\` with what your product does with an event.

- \`.env.example\` has the settings: copy it to \`.env\`.
- \`app.js\` mounts the API, registers the webhook and starts the relay.
- To make another API key, ${alone(storage)}
  \`npx folkmoot keys create --storage ${storageParts[storage].address} --name Connector --scope '*'\`.
- For an admin panel, ${alone(storage)}
  \`npx folkmoot serve --storage ${storageParts[storage].address} --allow-http --port 4001\` and open the link that it prints. To put
  the panel into the app, behind your login, see [docs/panel.md](https://github.com/folkmoot/folkmoot/blob/main/docs/panel.md).
- \`podman build -t community .\` makes an image. In production, set \`PUBLIC_URL\` and put a proxy that terminates TLS in front.
`

/** A lowdb file belongs to one process. */
const alone = (storage: Project['storage']): string => (storage === 'lowdb' ? 'stop the app and run' : 'run')
