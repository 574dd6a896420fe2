import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { ServiceError } from "../../../shared/errors.ts";
import type { Identity } from "../../accounts/identity.ts";
import { MAX_PASSWORD, MIN_PASSWORD } from "../../accounts/credential-fields.ts";
import type { PasswordCaller } from "../../accounts/password-changes.ts";
import { clientAddress } from "../server/client-address.ts";
import type { HttpEnv, HttpOptions } from "../http-deps.ts";

/** Bounded because it is hashed; the services check the stricter rule, which the document shows. */
export const passwordText = z.string().max(1_000).openapi({ minLength: MIN_PASSWORD, maxLength: MAX_PASSWORD });

/** The caller of an operation that only a signed-in person may do. @throws {ServiceError} `bad_request` for an API key. */
export function passwordCaller(c: Context<HttpEnv>, identity: Identity, options: HttpOptions): PasswordCaller {
  if (identity.kind !== "session") {
    throw new ServiceError("bad_request", "An API key cannot do this; sign in and send the session token");
  }
  const { accountId, tokenHash } = identity;
  return { accountId, tokenHash, address: clientAddress(c.env.incoming, options) };
}
