export const POST = async (request) => Response.json(await request.json())
