import { readFile } from "node:fs/promises";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Bus } from "./bus.ts";
import { LocalBus } from "./local-bus.ts";

/** NATS servers, and who we are there. */
export interface BusPlace {
  /** `host:port` of each. */
  readonly servers: readonly string[];
  readonly user: string | null;
  readonly password: string | null;
  readonly token: string | null;
  readonly credentialsFile: string | null;
  readonly caFile: string | null;
  /** Only connections with TLS. */
  readonly isTls: boolean;
}

interface OpenBusDeps {
  readonly clock: Pick<Clock, "schedule">;
  readonly log: Pick<Logger, "warn" | "info">;
}

/** The bus of a network; null: of a coordinator that is alone. `name`: shown by the servers. */
export async function openBus(place: BusPlace | null, name: string, { clock, log }: OpenBusDeps): Promise<Bus> {
  if (place === null) return new LocalBus();
  // Loaded here, because a coordinator that is alone needs none of it.
  const [{ NatsBus }, { credsAuthenticator }] = await Promise.all([
    import("./nats-bus.ts"),
    import("@nats-io/transport-node"),
  ]);
  const { servers, user, password, token, credentialsFile, caFile, isTls } = place;
  return NatsBus.open(
    {
      servers: [...servers],
      ...(user === null ? {} : { user }),
      ...(password === null ? {} : { pass: password }),
      ...(token === null ? {} : { token }),
      ...(credentialsFile === null ? {} : { authenticator: credsAuthenticator(await readFile(credentialsFile)) }),
      ...(isTls || caFile !== null ? { tls: caFile === null ? {} : { caFile } } : {}),
    },
    name,
    log,
    clock,
  );
}
