/** Every page of the panel. */
import type { Route } from '../route.ts'
import { keyRoutes } from './keys.ts'

export const routes: readonly Route[] = [...keyRoutes]
