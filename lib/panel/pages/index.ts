/** Every page of the panel. */
import type { Route } from '../route.ts'

export const routes: readonly Route[] = []
