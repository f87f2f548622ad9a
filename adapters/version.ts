/** The version of the package. A test compares it with package.json, which not every runtime can read. */
export const version = '0.1.0'
