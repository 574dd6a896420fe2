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
    (await accounts.isStillValid(identity)) &&
    (await store.accounts.accountStatus(identity.accountId))?.role === "operator";
  const openOverviews = overviewFeed(() => operators.network.overview(), clock);
  routes.get("", {
    id: "streamEvents",
    is: "Stream changes of your jobs, Islands and balance",
    about:
      "The stream stays open. It starts with `reset`: read your lists, then apply the events that follow. Changes are collected for 125 ms, and changes of Islands for up to 1 s; if something changes several times, only its last state is sent. Events are never repeated. `reset` is also sent after a gap, and to a client that reads too slowly. An account may have 10 event streams open, which together count as one of its open streams. With `scope=network`, which needs an operator's session, `overview` events are added: the body of GET /operator/overview, sent at once and then after changes, at most every 2 s. That stream ends when the account loses the operator role.",
    access: "read",
    query: z.object({
      scope: z.enum(["network"]).optional().describe("`network` adds the overview of the network, for operators"),
    }),
    responses: {
      200: {
        description: "Server-Sent Events; the data of each event is an AccountEvent",
        content: eventStream(accountEventSchema),
      },
    },
    fails: [403, 503],
  })(async ({ c, identity, query }) => {
    const isNetworkScope = query.scope === "network";
    if (isNetworkScope) requireOperator(identity);
    if (c.req.method === "HEAD") return c.body(null, 200, SSE_HEADERS);
    const mayRead = (): Promise<boolean> =>
      isNetworkScope ? isStillOperator(identity) : accounts.isStillValid(identity);
    const response = c.env.outgoing;
    await c.get("limits").openEvents(identity, response);
    relayEvents(deps, identity.accountId, response, mayRead, isNetworkScope ? openOverviews : null);
    return RESPONSE_ALREADY_SENT;
  });
});
