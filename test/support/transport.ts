import { join } from "node:path";
import type { Transport } from "../../coordinator/http/server/transport.ts";

/** Path where `uws/install.ts` installs the library of the transport uws. */
const INSTALLED = join(import.meta.dirname, "uws", "node_modules", "uwebsockets");

/** Options for `listen`. The coordinator's flag for `transportModule` is `uwsModule`. */
export interface TransportChoice {
  readonly transport: Transport;
  readonly transportModule: string;
}

const choose = (transport: Transport): TransportChoice => ({ transport, transportModule: INSTALLED });

/** Transport of the API tests: `ATOLL_TEST_TRANSPORT`. */
export const TEST_TRANSPORT = choose(process.env["ATOLL_TEST_TRANSPORT"] === "uws" ? "uws" : "node");

export const TEST_LISTEN = { ...TEST_TRANSPORT, host: "127.0.0.1", port: 0 } as const;

/**
 * Skips a test on the transport uws. `why` is part of the test's title. coordinator/http/server/uws/README.md documents
 * the limitation.
 */
export function unlessUws(title: string, why: string): [title: string, options: { readonly skip: boolean }] {
  return TEST_TRANSPORT.transport === "uws" ? [`${title} [uws: ${why}]`, { skip: true }] : [title, { skip: false }];
}
