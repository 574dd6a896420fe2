import type { Logger } from "pino";
import type { Clock } from "../../../shared/clock.ts";
import type { IslandIdentity } from "../../accounts/identity.ts";
import type { Rate } from "../../quotas/token-bucket.ts";
import type { AccountShare } from "../account-sessions.ts";
import type { IntakeBudget } from "../intake-budget.ts";
import type { FrameCounts } from "../frame-counts.ts";
import type { IslandLink } from "../island.ts";
import type { IslandConnections } from "../island-connections.ts";
import type { SessionWatch } from "./session-watch.ts";

/** What all sessions share. */
export interface SessionDeps {
  readonly connections: IslandConnections;
  readonly clock: Clock;
  readonly log: Logger;
  readonly heartbeatMs: number;
  readonly intake: IntakeBudget;
  readonly watch: SessionWatch;
  readonly frames: FrameCounts;
  /** From `controlRate()`. */
  readonly controlRate: Rate;
  /** Called once in each interval. Ends the sessions of a token that was revoked. */
  recheck(owner: SessionOwner): void;
  /** The session ends because it was a flood. */
  onFlood(owner: SessionOwner): void;
  onClosed(session: IslandLink): void;
}

/** The account whose token opened the session. */
export interface SessionOwner extends IslandIdentity {
  readonly share: AccountShare;
}
