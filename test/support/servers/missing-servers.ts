import { hasNats } from "./nats-server.ts";
import { postgresPrograms } from "./postgres-server.ts";

/** Returns the Debian packages of servers that several coordinators need and that are missing, or null. */
export async function missingServers(): Promise<string | null> {
  const missing = [
    ...((await postgresPrograms()) === null ? ["postgresql"] : []),
    ...(hasNats() ? [] : ["nats-server"]),
  ];
  return missing.length === 0 ? null : `not installed (Debian): ${missing.join(", ")}`;
}
