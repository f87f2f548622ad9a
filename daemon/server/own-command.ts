/**
 * How to run this program again from the same shell, for commands that people copy. A project that has installed the package has
 * its programs in `node_modules/.bin`, where only npx finds them.
 * @param path the file that was run
 */
export const ownCommand = (path = process.argv[1] ?? ''): string =>
  /[\\/]node_modules[\\/]\.bin[\\/]/.test(path) ? 'npx folkmoot' : 'folkmoot'
