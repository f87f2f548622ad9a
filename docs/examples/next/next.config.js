export default {
  // Loaded, not bundled.
  serverExternalPackages: ['folkmoot'],
  // Paths of the API end with a slash. Next would redirect them to paths without one.
  skipTrailingSlashRedirect: true,
}
