import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { z } from "@hono/zod-openapi";
import type { Identity } from "../../accounts/identity.ts";
import { requireOperator } from "../middleware/auth.ts";
import { accountEventSchema } from "../schemas/account-schemas.ts";
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
    relayEvents(deps, identity.accountId, response, mayRead, isOfNetwork ? openOverviews : null);
    return RESPONSE_ALREADY_SENT;
  });
});
