/** The settings of the app: variables of the environment, or of the file `.env`. `.env.example` says what each is for. */
import { existsSync } from 'node:fs'
import { storageSetting } from './storage.ts'

/** Every setting that is missing or wrong, one in each line. */
export class SettingsError extends Error {}

/** @throws SettingsError */
export function readSettings() {
  // What the environment has goes before the file.
  const hasFile = existsSync('.env')
  if (hasFile) process.loadEnvFile()
  const problems: string[] = []

  /** A variable of the environment. `docker run --env-file` keeps the quotes of the file. */
  function given(name: string) {
    const value = process.env[name]?.trim() ?? ''
    return hasFile ? value : value.replace(/^(['"`])(.*)\1$/, '$2')
  }

  /** A setting that must be right; an empty one counts as not set. */
  function setting(name: string, must: string, isRight: RegExp, fallback?: string) {
    const value = given(name) || fallback
    if (value === undefined) problems.push(`${name} must be set to ${must}`)
    else if (!isRight.test(value)) problems.push(`${name} must be ${must}, got ${value}`)
    return value ?? ''
  }

  const port = setting('PORT', 'a number from 0 to 65535', /^\d{1,5}$/, '4000')
  if (/^\d{5}$/.test(port) && Number(port) > 65_535) problems.push(`PORT must be a number from 0 to 65535, got ${port}`)

  const publicUrl = given('PUBLIC_URL').replace(/\/$/, '') || undefined
  if (publicUrl !== undefined && !(URL.canParse(publicUrl) && /^https:[^?#\s]+$/.test(publicUrl)))
    problems.push(`PUBLIC_URL must be an https address, such as https://api.example.org, got ${publicUrl}`)

  // A problem with them does not show them.
  const encryptionKeys = given('FOLKMOOT_ENCRYPTION_KEYS')
    .split(/[\s,]+/)
    .filter((key) => key !== '')
  if (!encryptionKeys.every((key) => /^[\w+/-]{43}=?$/.test(key)))
    problems.push('FOLKMOOT_ENCRYPTION_KEYS must be keys of 32 bytes in base64, with commas between them')

  const [first_name = '', ...others] = setting('OWNER_NAME', 'the name of the first host', /./).split(/\s+/)
  const settings = {
    storage: setting(storageSetting.name, storageSetting.must, storageSetting.isRight, storageSetting.fallback),
    port: Number(port),
    host: setting('HOST', 'an address such as 127.0.0.1', /^[\w.:-]+$/, '127.0.0.1'),
    publicUrl,
    encryptionKeys,
    network: {
      subdomain: setting('NETWORK', 'lower-case letters, digits and hyphens', /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/),
      title: setting('TITLE', 'the title of the network', /./),
      owner: {
        email: setting('OWNER_EMAIL', 'an e-mail address', /^\S+@\S+$/),
        first_name,
        last_name: others.join(' '),
      },
    },
  }
  if (problems.length > 0 && !hasFile)
    problems.push('There is no file .env here: copy .env.example, or set these in the environment')
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
  return settings
}
