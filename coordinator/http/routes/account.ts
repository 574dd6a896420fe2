import { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import type { LedgerLine } from "../../credits/account-lines.ts";
import { accountSchema, presentAccount } from "../schemas/account-schemas.ts";
import { data, json } from "../schemas/responses.ts";
import { clearSessionCookie } from "../server/console-session.ts";
import { routeGroup } from "../route-group.ts";
import { pageOf, pageQuery, presentPage } from "../schemas/pagination.ts";
import { creditsSchema, presentCredits, presentTime, timeSchema } from "../schemas/wire-units.ts";
import { emailText, mailedToken, passwordCaller, passwordText } from "./sessions.ts";

/** Data that remains after an account is deleted: none of it is content or personal data. */
const KEPT_DATA = ["ledger entries", "times, Cargo, state, tokens and charge of each job"] as const;

const lineSchema = z
  .object({
    id: z.int().describe("Id of the entry; increases with time"),
    kind: z
      .enum(["grant", "correction", "refund", "hold", "charge", "release", "earning"])
      .describe(
        "`grant`: an operator or the registration gave credits. `correction`: an operator took credits back. `hold`: credits were reserved for a submitted job. `charge`: credits were taken from the hold. `release`: credits returned from the hold. `earning`: an Island of the account ran a job",
      ),
    amount: creditsSchema.describe("Change of `credits`; negative for a decrease"),
    held: creditsSchema.describe("Change of the credits held for unfinished jobs"),
    balance: creditsSchema.describe("`credits` of the account after this entry"),
    job_id: z.string().nullable().describe("Id of the job; for an earning, a job of any account"),
    batch_id: z
      .string()
      .nullable()
      .describe("Id of the batch, only for the hold of a whole batch; its jobs are charged and released separately"),
    workload_slug: z.string().nullable().describe("Slug of the Cargo of the job or batch"),
    note: z.string().nullable().describe("The operator's note on a grant or correction"),
    created_at: timeSchema,
  })
  .openapi("LedgerLine");

export const accountRoutes = routeGroup("", { tag: "Account" }, (routes, deps) => {
  routes.delete("/account", {
    id: "deleteAccount",
    is: "Delete the account permanently",
    about:
      "Needs a session and the password. Unfinished jobs are cancelled, and keys, sessions and Island tokens end at once. Inputs, outputs, conversations, Cargos and the e-mail address are removed. Remaining credits return to the network. The account's id, its ledger and its jobs' times, Cargo, state, tokens and charge are kept for accounting.",
    access: "write",
    body: z.object({ password: passwordText }),
    responses: {
      200: json(
        data(
          z.object({
            id: z.string(),
            deleted: z.literal(true),
            kept: z.array(z.string()).describe("Data that is kept for accounting, under the account's id"),
          }),
        ),
        "Deleted",
      ),
    },
    fails: [400, 404],
  })(async ({ c, identity, body }) => {
    const { accountId: id } = identity;
    await deps.accounts.delete(passwordCaller(c, identity, deps.options), body.password);
    c.get("limits").closeStreamsOfAccounts(new Set([id]));
    clearSessionCookie(c.env, deps.options);
    await deps.retention.remove({ kind: "account", id });
    return { data: { id, deleted: true, kept: [...KEPT_DATA] } };
  });

  routes.patch("/account", {
    id: "changeAccount",
    is: "Change the password or the e-mail address",
    about:
      "Needs a session and the current password. A new password ends all other sessions and discards an unconfirmed e-mail address; API keys stay. If the coordinator sends e-mail, a new address is kept in `pending_email` until it is confirmed with the mailed token (POST /auth/email, within an hour); the response does not reveal whether another account has the address. Otherwise it takes effect at once, and an address in use is 422 email_taken.",
    access: "write",
    body: z
      .object({
        current_password: z.string().max(1_000),
        password: passwordText.optional(),
        email: emailText.optional(),
      })
      .refine(({ password, email }) => password !== undefined || email !== undefined, {
        message: "must have password or email",
      })
      .openapi("ChangeAccount"),
    responses: {
      200: json(
        data(
          z.object({
            ...accountSchema.shape,
            pending_email: z.string().nullable().describe("New e-mail address that is not confirmed yet"),
          }),
        ),
        "The changed account",
      ),
    },
    fails: [400, 404],
  })(async ({ c, identity, body }) => {
    const { current_password: current, ...change } = body;
    const caller = passwordCaller(c, identity, deps.options);
    const { account, pendingEmail } = await deps.accounts.change(caller, current, change);
    deps.events.noteAccount(account.id);
    return { data: { ...presentAccount(account), pending_email: pendingEmail } };
  });

  routes.post("/auth/email", {
    id: "confirmEmail",
    is: "Confirm a new e-mail address with a mailed token",
    about: "The token works once, within an hour, and does not need a session. The old address is notified.",
    access: "public",
    body: z.object({ token: mailedToken }),
    responses: { 200: json(data(z.object({ email_changed: z.literal(true) })), "Changed") },
    fails: [400, 422],
  })(async ({ body }) => {
    await deps.accounts.confirmEmail(body.token);
    return { data: { email_changed: true } };
  });

  routes.get("/account", {
    id: "getAccount",
    is: "Get the caller's account and credits",
    access: "read",
    responses: { 200: json(data(accountSchema), "The account") },
    fails: [404],
  })(async ({ identity }) => {
    const account = await deps.store.accounts.get(identity.accountId);
    if (account === undefined) throw new ServiceError("not_found", `Account ${identity.accountId} no longer exists`);
    return { data: presentAccount(account) };
  });

  routes.get("/account/ledger", {
    id: "listLedger",
    is: "List changes of the account's credits, newest first",
    about:
      "The `amount` of all entries adds up to the account's `credits`, and `held` to the credits held for unfinished jobs.",
    access: "read",
    query: z.object(pageQuery()),
    responses: { 200: json(pageOf(lineSchema), "Entries of the ledger") },
  })(async ({ identity, query }) => {
    const { lines, total } = await deps.store.ledger.list(identity.accountId, query);
    return presentPage(lines.map(presentLine), total, query);
  });
});

function presentLine(line: LedgerLine): z.infer<typeof lineSchema> {
  return {
    id: line.id,
    kind: line.kind,
    amount: presentCredits(line.micro),
    held: presentCredits(line.heldMicro),
    balance: presentCredits(line.balanceMicro),
    job_id: line.jobId,
    batch_id: line.batchId,
    workload_slug: line.slug,
    note: line.note,
    created_at: presentTime(line.atMs),
  };
}
