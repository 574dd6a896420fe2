import type { Engines } from "../../island-agent/runtimes/engine/engines.ts";

/** The engines of a host that lends none. */
export const NO_ENGINES: Pick<Engines, "load" | "serves" | "reports" | "slots" | "spawns" | "status"> = {
  spawns: false,
  load: () => null,
  serves: () => false,
  reports: () => [],
  status: () => [],
  slots: () => 0,
};
