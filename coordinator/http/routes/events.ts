import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute, z } from "@hono/zod-openapi";
import type { Identity } from "../../accounts/identity.ts";
import { parsePosition } from "../../events/position.ts";
import { CredentialCheck } from "../limits/credential-check.ts";
import { requireOperator } from "../middleware/auth.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { accountEventSchema } from "../schemas/account-event-schemas.ts";
import { eventStream, failures } from "../schemas/responses.ts";
import { AccountEventEncoder } from "../streaming/account-event-encoder.ts";
import { EventRelay } from "../streaming/event-relay.ts";
import { OverviewFeed } from "../streaming/overview-feed.ts";
import { SSE_HEADERS } from "../streaming/sse.ts";

const eventsRoute = createRoute({
  operationId: "streamEvents",
  method: "get",
  path: `${API_BASE}/events`,
  summary: "Hear what changes: your jobs, your Islands, your balance",
  description:
    "A stream that does not end by itself. It begins with `ready`, or, for a Last-Event-ID that is not known any more, with `reset`; both mean: " +
    "what changes from here on is told. Changes are gathered for an eighth of a second, Islands for up to a second, and of what changed several " +
    "times the last state is told; an event may come again after a reconnect. Last-Event-ID continues after the event with that id, for a minute " +
    "after the connection was lost, at any coordinator of the network. All streams of events of an account count as one of its open streams; it may " +
    "have 10 of them. An operator's session may ask for scope=network, which adds `overview`: the body of GET /operator/overview, at once and at most " +
    "every 2 s, when it or the queue is another one. The stream ends when the account is no operator's any more.",
  request: {
    query: z.object({
      last_event_id: z.string().optional(),
      scope: z.enum(["network"]).optional().openapi({ description: "Adds the overview of the network, for operators" }),
    }),
    headers: z.object({ "last-event-id": z.string().optional() }),
  },
  responses: {
    200: {
      description: "Server-Sent Events; the data of each is an AccountEvent",
      content: eventStream(accountEventSchema),
    },
    ...failures(403, 503),
  },
});

export function serveEvents(app: HttpApp, deps: HttpDeps): void {
  const { accounts, clock, events, operators, options, store } = deps;
  const isStillOperator = async (identity: Identity): Promise<boolean> =>
    (await accounts.isStillValid(identity)) && (await store.accounts.standing(identity.accountId))?.role === "operator";
  const overviews = new OverviewFeed({ network: operators.network, clock });
  // Several coordinators tell each other.
  const isTold = deps.credentials !== undefined;
  const revision = (): Promise<number> => store.accounts.credentialsRevision();
  const check = isTold ? null : new CredentialCheck({ revision, clock });
  serveScoped(app, deps, "read", eventsRoute, async ({ c, identity, query }) => {
    const lastEventId = c.req.header("last-event-id") ?? query.last_event_id;
    const isOfNetwork = query.scope === "network";
    if (isOfNetwork) requireOperator(identity);
    if (c.req.method === "HEAD") return c.body(null, 200, SSE_HEADERS);
    const mayRead = (): Promise<boolean> => (isOfNetwork ? isStillOperator(identity) : accounts.isStillValid(identity));
    const { accountId } = identity;
    const response = c.env.outgoing;
    await c.get("limits").openEvents(identity, response);
    check?.add(response, mayRead);
    const after = lastEventId === undefined ? null : parsePosition(lastEventId);
    let relay: EventRelay | null = null;
    const reader = await events.open(accountId, after, () => relay?.onChange());
    relay = new EventRelay({
      reader,
      encoder: new AccountEventEncoder(deps, accountId),
      response,
      clock,
      heartbeatMs: options.heartbeatMs,
      mayRead,
      overview: isOfNetwork ? overviews : null,
    });
    return RESPONSE_ALREADY_SENT;
  });
}
