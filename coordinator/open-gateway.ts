import type { Logger } from "pino";
import type { Clock } from "../shared/clock.ts";
import type { Accounts } from "./accounts/accounts.ts";
import type { MemoryBudgets } from "./config/memory-settings.ts";
import type { CoordinatorConfig } from "./config/resolve-config.ts";
import { clientAddress } from "./http/server/client-address.ts";
import type { CargoSigner } from "./islands/cargo-signer.ts";
import { IslandGateway } from "./islands/gateway.ts";
import { IntakeBudget } from "./islands/intake-budget.ts";
import type { IslandConnections } from "./islands/island-connections.ts";

export interface OpenGatewayDeps {
  readonly config: CoordinatorConfig;
  readonly connections: IslandConnections;
  readonly accounts: Accounts;
  readonly signer: Pick<CargoSigner, "publicKey">;
  readonly memory: MemoryBudgets;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The gateway of Islands, with the limits of the settings. */
export function openGateway({ config, memory, signer, ...deps }: OpenGatewayDeps): IslandGateway {
  return new IslandGateway({
    ...deps,
    heartbeatMs: config.heartbeatMs,
    intake: new IntakeBudget(memory),
    publicKey: signer.publicKey,
    addressOf: (request) => clientAddress(request, config),
    caps: { perToken: config.islandSessionsPerToken, perAccount: config.islandSessionsPerAccount },
  });
}
