import { z } from "@hono/zod-openapi";
import type { Clock } from "../../../shared/clock.ts";
import type { Store } from "../../store/store.ts";
import { json } from "../schemas/responses.ts";
import { routeGroup } from "../route-group.ts";

/** Time for which all callers get the same result: the endpoint is public and a check is a write. */
const FRESH_MS = 1_000;
const CHECK_TIMEOUT_MS = 2_000;

const healthSchema = z
  .object({
    status: z.enum(["ok", "degraded"]),
    version: z.string(),
    checks: z.object({
      store: z
        .enum(["ok", "read_only", "failing"])
        .describe(
          "`read_only` means that writes are refused, because the disk is full, another process writes, or the database is unreachable",
        ),
      bus: z
        .enum(["ok", "down"])
        .optional()
        .describe(
          "Present only with several coordinators. `down` means that the others are unreachable; this coordinator's own jobs and Islands continue",
        ),
    }),
  })
  .openapi("Health");

export const healthRoutes = routeGroup("/health", { tag: "Service" }, (routes, deps) => {
  const { store, clock, version } = deps;
  const isStoreHealthy = storeProbe(store, clock);
  routes.get("", {
    id: "getHealth",
    is: "Get health and version",
    access: "public",
    responses: {
      200: json(healthSchema, "Healthy, or degraded but able to serve: the bus is down"),
      503: json(healthSchema, "Degraded: the store is not available"),
    },
  })(async ({ c }) => {
    const isHealthy = (await isStoreHealthy()) && store.readOnlyReason === null;
    const failure = store.readOnlyReason === null ? "failing" : "read_only";
    const { bus } = deps;
    const isConnected = bus === null || bus.downReason === null;
    const checks = {
      store: isHealthy ? "ok" : failure,
      ...(bus === null ? {} : { bus: isConnected ? "ok" : "down" }),
    } as const;
    // A failing bus keeps the status 200: if all coordinators lost the bus, a load balancer would remove all of them.
    return c.json({ status: isHealthy && isConnected ? "ok" : "degraded", version, checks }, isHealthy ? 200 : 503);
  });
});

function storeProbe(store: Pick<Store, "check">, clock: Clock): () => Promise<boolean> {
  let startedMs = -Infinity;
  let result = Promise.resolve(true);
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - startedMs >= FRESH_MS) {
      startedMs = nowMs;
      result = checkInTime(store, clock);
    }
    return result;
  };
}

/** Checks the store and returns whether it works. A store that does not respond in time counts as failing. */
function checkInTime(store: Pick<Store, "check">, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.schedule(CHECK_TIMEOUT_MS, () => resolve(false));
    const isHealthy = store.check().then(
      () => true,
      () => false,
    );
    void isHealthy.then(resolve).finally(() => timer.cancel());
  });
}
