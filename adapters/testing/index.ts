/** `folkmoot/testing`: a community for the tests of a host. It needs no test runner. */
import '../node-version.ts'

export type { TestClock } from './clock.ts'
export { type TestCommunity, type TestCommunityOptions, type TestRequest, testCommunity } from './community.ts'
