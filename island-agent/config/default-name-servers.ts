/**
 * Cloudflare's and Quad9's public resolvers. Containers with a network cannot ask the host's own, which is usually at a private address,
 * and should not learn its names.
 */
export const DEFAULT_NAME_SERVERS = ["1.1.1.1", "9.9.9.9"];
