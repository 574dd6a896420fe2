import { z } from "@hono/zod-openapi";
import type { Clock } from "../../../shared/clock.ts";
import type { Store } from "../../store/store.ts";
import { json } from "../schemas/responses.ts";
import { routeGroup } from "../route-group.ts";

/** How long a result answers all callers: the endpoint is public, and a check is a write. */
const FRESH_MS = 1_000;
const CHECK_TIMEOUT_MS = 2_000;

const healthSchema = z
  .object({
    status: z.enum(["ok", "degraded"]),
    version: z.string(),
    checks: z.object({
      store: z.enum(["ok", "read_only", "failing"]).openapi({
        description:
          "read_only: the disk is full, another process writes, or the database is away; nothing new is accepted",
      }),
      bus: z.enum(["ok", "down"]).optional().openapi({
        description: "Of one of several coordinators. down: others cannot be reached; its own jobs and Islands go on",
      }),
    }),
  })
  .openapi("Health");

export const healthRoutes = routeGroup("/health", { tag: "Service" }, (routes, deps) => {
  const { store, clock, version } = deps;
  const probe = new StoreProbe(store, clock);
  routes.get("", {
    id: "getHealth",
    is: "Health and version",
    access: "public",
    answers: {
      200: json(healthSchema, "Healthy, or degraded and able to serve: the bus is down"),
      503: json(healthSchema, "Degraded: the store fails"),
    },
  })(async ({ c }) => {
    const isWell = (await probe.isWell()) && store.readOnlyBecause === null;
    const failure = store.readOnlyBecause === null ? "failing" : "read_only";
    const { bus } = deps;
    const isReached = bus === null || bus.downBecause === null;
    const checks = {
      store: isWell ? "ok" : failure,
      ...(bus === null ? {} : { bus: isReached ? "ok" : "down" }),
    } as const;
    // A load balancer must not take away every coordinator because none reaches the others.
    return c.json({ status: isWell && isReached ? "ok" : "degraded", version, checks }, isWell ? 200 : 503);
  });
});

/** Checks the store at most once a second, however many callers ask. */
class StoreProbe {
  readonly #store: Pick<Store, "check">;
  readonly #clock: Clock;
  #startedMs = -Infinity;
  #result: Promise<boolean> = Promise.resolve(true);

  constructor(store: Pick<Store, "check">, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  isWell(): Promise<boolean> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#startedMs >= FRESH_MS) {
      this.#startedMs = nowMs;
      this.#result = this.#check();
    }
    return this.#result;
  }

  /** A store that does not answer in time counts as failing. */
  #check(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#clock.schedule(CHECK_TIMEOUT_MS, () => resolve(false));
      const settle = (isWell: boolean): void => {
        timer.cancel();
        resolve(isWell);
      };
      this.#store.check().then(
        () => settle(true),
        () => settle(false),
      );
    });
  }
}
