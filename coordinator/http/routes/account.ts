import { createRoute, z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { EMAIL_PATTERN, MAX_EMAIL } from "../../accounts/credential-fields.ts";
import { accountSchema, presentAccount } from "../schemas/account-schemas.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";
import { servePublic, serveScoped } from "../middleware/endpoint.ts";
import { clearSessionCookie } from "../server/console-session.ts";
import { passwordCaller, passwordText } from "./password-caller.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";

const accountRoute = createRoute({
  operationId: "getAccount",
  method: "get",
  path: `${API_BASE}/account`,
  summary: "The caller's account and credits",
  responses: { 200: json(data(accountSchema), "The account"), ...failures(404) },
});

const deleteRoute = createRoute({
  operationId: "deleteAccount",
  method: "delete",
  path: `${API_BASE}/account`,
  summary: "Delete the account for good",
  description:
    "Needs a session and the password. Unfinished jobs are cancelled; keys, sessions and Island tokens end at once; prompts, answers, " +
    "conversations, Cargos and the e-mail address are removed. What credits are left go back to the network. For the books the account's " +
    "id stays, with its entries of the ledger, and the facts of its jobs: times, Cargo, state, tokens and charge.",
  request: jsonBody(z.object({ password: passwordText })),
  responses: {
    200: json(
      data(
        z.object({
          id: z.string(),
          deleted: z.literal(true),
          kept: z.array(z.string()).openapi({ description: "What stays for the books, under the account's id" }),
        }),
      ),
      "Deleted",
    ),
    ...failures(400, 404),
  },
});

/** Without content, and without what says whose account it was. */
const KEPT = ["entries of the ledger", "of each job: times, Cargo, state, tokens and charge"] as const;

const changeRoute = createRoute({
  operationId: "changeAccount",
  method: "patch",
  path: `${API_BASE}/account`,
  summary: "Change the password or the e-mail address",
  description:
    "Needs a session and the present password. With another password all other sessions end, and an address that waits for its proof is dropped; API keys stay. Where the coordinator sends " +
    "mail, another address counts once the token that it is mailed is used (POST /auth/email, within an hour), and `pending_email` has it, " +
    "the same whether or not another account has the address. Elsewhere it counts at once, and one that is taken is 422 email_taken.",
  request: jsonBody(
    z
      .object({
        current_password: z.string().max(1_000),
        password: passwordText.optional(),
        email: z.string().max(1_000).optional().openapi({ maxLength: MAX_EMAIL, pattern: EMAIL_PATTERN.source }),
      })
      .refine(({ password, email }) => password !== undefined || email !== undefined, {
        message: "needs a new password or a new email",
      })
      .openapi("ChangeAccount"),
  ),
  responses: {
    200: json(
      data(
        z.object({
          ...accountSchema.shape,
          pending_email: z.string().nullable().openapi({ description: "An address that waits for its proof" }),
        }),
      ),
      "The account as it is now",
    ),
    ...failures(400, 404),
  },
});

const confirmRoute = createRoute({
  operationId: "confirmEmail",
  method: "post",
  path: `${API_BASE}/auth/email`,
  summary: "Confirm a new e-mail address with the token of a mail",
  description: "A token works once, within an hour, and needs no session. The old address is told.",
  request: jsonBody(z.object({ token: z.string().max(200).openapi({ description: "ep_…, from the mail" }) })),
  responses: { 200: json(data(z.object({ email_changed: z.literal(true) })), "Changed"), ...failures(400, 422) },
});

export function serveAccount(app: HttpApp, deps: HttpDeps): void {
  serveScoped(app, deps, "write", deleteRoute, async ({ c, identity, body }) => {
    const { accountId: id } = identity;
    await deps.accounts.delete(passwordCaller(c, identity, deps.options), body.password);
    c.get("limits").closeStreamsOfAccounts(new Set([id]));
    if (c.env.incoming.headers.authorization === undefined) clearSessionCookie(c.env, deps.options);
    await deps.retention.remove({ kind: "account", id });
    return c.json({ data: { id, deleted: true, kept: [...KEPT] } });
  });

  serveScoped(app, deps, "write", changeRoute, async ({ c, identity, body }) => {
    const { current_password: current, ...change } = body;
    const caller = passwordCaller(c, identity, deps.options);
    const { account, pendingEmail } = await deps.accounts.change(caller, current, change);
    deps.events.noteAccount(account.id);
    return c.json({ data: { ...presentAccount(account), pending_email: pendingEmail } });
  });

  servePublic(app, confirmRoute, async ({ c, body }) => {
    await deps.accounts.confirmEmail(body.token);
    return c.json({ data: { email_changed: true } });
  });

  serveScoped(app, deps, "read", accountRoute, async ({ c, identity }) => {
    const account = await deps.store.accounts.get(identity.accountId);
    if (account === undefined) throw new ServiceError("not_found", `Account ${identity.accountId} no longer exists`);
    return c.json({ data: presentAccount(account) });
  });
}
