import { env } from 'node:process'

/** Whether this is `npm run test:soak`. */
export const soaking = env['FOLKMOOT_TEST_SOAK'] !== undefined

/** How many rounds a loop takes: few in `npm test`, more in `npm run test:soak`, and any number by `FOLKMOOT_KILL_ROUNDS`. */
export const rounds = (few: number, soak: number): number => Number(env['FOLKMOOT_KILL_ROUNDS'] ?? (soaking ? soak : few))
