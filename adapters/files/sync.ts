/**
 * Syncs open files by their number. Yarn's Plug'n'Play replaces the file handles of Node, whose `sync` and `datasync` throw
 * `Method not implemented` then.
 */
import { fdatasync, fsync } from 'node:fs'

type Numbered = { readonly fd: number }

/** Resolves when content and size are on the disk. @throws the error of the file system */
export const syncContent = ({ fd }: Numbered): Promise<void> =>
  new Promise((resolve, reject) => fdatasync(fd, (error) => (error ? reject(error) : resolve())))

/** Resolves when everything is on the disk; of a directory that is its names. @throws the error of the file system */
export const syncWhole = ({ fd }: Numbered): Promise<void> =>
  new Promise((resolve, reject) => fsync(fd, (error) => (error ? reject(error) : resolve())))
