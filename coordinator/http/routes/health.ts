import { createRoute, z } from "@hono/zod-openapi";
import type { Clock } from "../../../shared/clock.ts";
import type { Store } from "../../store/store.ts";
import { servePublic } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { json } from "../schemas/responses.ts";

/** How long a result answers all callers: the endpoint is public, and a check is a write. */
const FRESH_MS = 1_000;
const CHECK_TIMEOUT_MS = 2_000;

const healthSchema = z
  .object({
    status: z.enum(["ok", "degraded"]),
    version: z.string(),
    checks: z.object({
      store: z.enum(["ok", "read_only", "failing"]).openapi({
        description: "read_only: the disk is full, or another process writes; nothing new is accepted",
      }),
    }),
  })
  .openapi("Health");

const healthRoute = createRoute({
  operationId: "getHealth",
  method: "get",
  path: `${API_BASE}/health`,
  summary: "Health and version",
  responses: { 200: json(healthSchema, "Healthy"), 503: json(healthSchema, "Degraded: a check fails") },
});

export function serveHealth(app: HttpApp, { store, clock, version }: HttpDeps): void {
  const probe = new StoreProbe(store, clock);
  servePublic(app, healthRoute, async ({ c }) => {
    const isWell = (await probe.isWell()) && store.readOnlyBecause === null;
    const failure = store.readOnlyBecause === null ? "failing" : "read_only";
    return c.json(
      { status: isWell ? "ok" : "degraded", version, checks: { store: isWell ? "ok" : failure } },
      isWell ? 200 : 503,
    );
  });
}

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
