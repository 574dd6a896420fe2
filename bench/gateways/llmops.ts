import { createRequire } from "node:module";

/** Program: serves the app of `@llmops/gateway` on the port of the first argument. The package has no server of its own. */

interface App {
  readonly fetch: (this: void, request: Request) => Promise<Response>;
}
interface NodeServer {
  readonly serve: (this: void, options: App & { port: number; hostname: string }) => void;
}

// The types are declared here, so that `npm run types` works without the packages.
const require = createRequire(import.meta.url);
const { serve } = require("@hono/node-server") as NodeServer;
const { default: app } = require("@llmops/gateway") as { default: App };
serve({ fetch: app.fetch, port: Number(process.argv[2]), hostname: "127.0.0.1" });
