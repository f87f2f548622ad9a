/** The same type without fields that are `undefined`: they are left out, as `exactOptionalPropertyTypes` requires. */
type Defined<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The fields that are not `undefined`. */
export const defined = <T extends object>(fields: T): Defined<T> =>
  // Each value has the type of its field.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
