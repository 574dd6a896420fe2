import { hasNats } from "./nats-server.ts";
import { postgresPrograms } from "./postgres-server.ts";

/** Debian's packages of the servers that several coordinators need, of those that are not installed; null where all are. */
export async function missingServers(): Promise<string | null> {
  const missing = [
    ...((await postgresPrograms()) === null ? ["postgresql"] : []),
    ...(hasNats() ? [] : ["nats-server"]),
  ];
  return missing.length === 0 ? null : `not installed (Debian): ${missing.join(", ")}`;
}
