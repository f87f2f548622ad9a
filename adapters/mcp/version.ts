/** The version of the package, which agents are told. A test compares it with package.json, which not every runtime can read. */
export const version = '0.1.0'
