/** Ten digits in a request that are another number each time it is sent: some requests succeed only once. */
export const uniqueMark = '0123456789'
