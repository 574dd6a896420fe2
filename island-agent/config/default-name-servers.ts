/**
 * Public resolvers of Cloudflare and Quad9. Containers with a network cannot use the host's resolver, which usually has
 * a private address, and should not learn its names.
 */
export const DEFAULT_NAME_SERVERS = ["1.1.1.1", "9.9.9.9"];
