/** Starts the app with its settings, and stops it on a signal. */
import { isApiError, isEncryptionError } from 'folkmoot'
import { isStorageError } from 'folkmoot/storage'
import { startApp } from './app.js'
import { readSettings, SettingsError } from './settings.js'
import { openStorage, storageSetting } from './storage.js'

async function start() {
  const { storage, ...settings } = readSettings()
  return startApp({
    ...settings,
    storage: await openStorage(storage),
    onEvent: (event) => console.log(`Received ${event.event_type} ${event.event_id}, verified`),
  })
}

/** Why the app does not start: a line that names the setting, or an error with its stack. */
function reasonOf(error) {
  if (error instanceof SettingsError) return error.message
  if (isStorageError(error)) return `${storageSetting.name}: ${error.message}`
  if (isEncryptionError(error)) return `FOLKMOOT_ENCRYPTION_KEYS: ${error.message}`
  if (isApiError(error)) return `NETWORK, TITLE, OWNER_NAME, OWNER_EMAIL: ${error.message}`
  if (error instanceof Error && 'syscall' in error)
    return `${['listen', 'getaddrinfo'].includes(String(error.syscall)) ? 'PORT, HOST' : storageSetting.name}: ${error.message}`
  return error
}

const app = await start().catch((error) => {
  console.error(reasonOf(error))
  return process.exit(1)
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => app.stop().then(() => process.exit(0)))

console.log(`The API: ${app.url}/admin/v1/networks/${app.network.subdomain}`)
if (app.token) console.log(`Your API key, which is shown only now: ${app.token}`)
