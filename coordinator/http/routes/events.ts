import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { z } from "@hono/zod-openapi";
import type { Clock } from "../../../shared/clock.ts";
import type { Identity } from "../../accounts/identity.ts";
import { requireOperator } from "../middleware/auth.ts";
import { accountEventSchema } from "../schemas/account-event-schemas.ts";
import { eventStream } from "../schemas/responses.ts";
import { relayEvents } from "../streaming/relay-events.ts";
import { overviewFeed } from "../streaming/overview-feed.ts";
import { SSE_HEADERS } from "../streaming/sse.ts";
import { routeGroup } from "../route-group.ts";

export const eventRoutes = routeGroup("/events", { tag: "Account" }, (routes, deps) => {
  const { accounts, clock, operators, store } = deps;
  const isStillOperator = async (identity: Identity): Promise<boolean> =>
    (await accounts.isStillValid(identity)) && (await store.accounts.standing(identity.accountId))?.role === "operator";
  const openOverviews = overviewFeed(() => operators.network.overview(), clock);
  // Several coordinators tell each other.
  const isTold = deps.credentials !== undefined;
  const check = isTold ? null : checkCredentials(() => store.accounts.credentialsRevision(), clock);
  routes.get("", {
    id: "streamEvents",
    is: "Follow what changes: your jobs, your Islands, your balance",
    about:
      "A stream of hints that does not end by itself. It begins with `reset`: read your lists now, what changes from here on is sent. Changes are " +
      "gathered for an eighth of a second, Islands for up to a second; only the last state of what changed several times is sent. Nothing is sent " +
      "again: a new connection begins with `reset`, and another `reset` comes wherever something may have been missed, or for a client that reads " +
      "too slowly. All streams of events of an account count as one of its open streams; it may have 10 of them. An operator's session may ask for " +
      "scope=network, which adds `overview`: the body of GET /operator/overview, at once and at most every 2 s, when it or the queue is another " +
      "one. The stream ends when the account is no operator's any more.",
    access: "read",
    query: z.object({
      scope: z.enum(["network"]).optional().describe("Adds the overview of the network, for operators"),
    }),
    answers: {
      200: {
        description: "Server-Sent Events; the data of each is an AccountEvent",
        content: eventStream(accountEventSchema),
      },
    },
    fails: [403, 503],
  })(async ({ c, identity, query }) => {
    const isOfNetwork = query.scope === "network";
    if (isOfNetwork) requireOperator(identity);
    if (c.req.method === "HEAD") return c.body(null, 200, SSE_HEADERS);
    const mayRead = (): Promise<boolean> => (isOfNetwork ? isStillOperator(identity) : accounts.isStillValid(identity));
    const response = c.env.outgoing;
    await c.get("limits").openEvents(identity, response);
    check?.(response, mayRead);
    relayEvents(deps, identity.accountId, response, mayRead, isOfNetwork ? openOverviews : null);
    return RESPONSE_ALREADY_SENT;
  });
});

const CHECK_MS = 1_000;

/**
 * Cuts streams that have no end of their own within a second after their key or session has ended, in whatever way: a changed password, the
 * operator's command line. It reads one number a second, and only while there are such streams.
 * @param readRevision Changes whenever a credential may have ended, also by another process.
 * @returns Adds a stream, until its response closes. `mayRead`: false cuts it.
 */
function checkCredentials(
  readRevision: () => Promise<number>,
  clock: Pick<Clock, "sleep">,
): (response: ServerResponse, mayRead: () => Promise<boolean>) => void {
  /** Each with what says whether it may go on. */
  const streams = new Map<ServerResponse, () => Promise<boolean>>();
  /** Ends the checks; null while there is no stream. */
  let checking: AbortController | null = null;

  const check = async (known: number | null): Promise<number> => {
    const revision = await readRevision();
    if (revision === known) return revision;
    for (const [response, mayRead] of streams) {
      if (!(await mayRead())) response.destroy();
    }
    return revision;
  };
  const checkUntil = async (signal: AbortSignal): Promise<void> => {
    // What ended since a credential was looked up is found by the first check.
    let known: number | null = null;
    while (!signal.aborted) {
      await clock.sleep(CHECK_MS, signal);
      // While storage cannot be read, nobody's credential ends.
      known = await check(known).catch(() => known);
    }
  };

  return (response, mayRead) => {
    if (response.destroyed) return;
    streams.set(response, mayRead);
    if (checking === null) {
      const { signal } = (checking = new AbortController());
      checkUntil(signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
    response.once("close", () => {
      streams.delete(response);
      if (streams.size > 0) return;
      checking?.abort();
      checking = null;
    });
  };
}
