/** A number of things: `1 delivery`, `3 deliveries`. @param several by default with an `s` */
export const counted = (count: number, one: string, several = `${one}s`): string => `${count} ${count === 1 ? one : several}`
