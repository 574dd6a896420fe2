import { ValidationError, type FieldError } from "../../shared/errors.ts";
import { microFromCredits } from "../credits/micro-credits.ts";
import { SCOPES, type Scope } from "../store/accounts/credentials.ts";

export const MAX_EMAIL = 254;
/**
 * As browsers check it: ASCII, without quotes, comments and names, a domain of letters and digits. Else one mailbox would have any
 * number of addresses, and of accounts: mail servers read `<ann@example.com>` and `ann@ex\u00adample.com` as `ann@example.com`. The
 * domain of another alphabet has its ASCII form (xn--…). Source: HTML Standard, "valid email address".
 */
export const EMAIL_PATTERN =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
export const MIN_PASSWORD = 8;
export const MAX_PASSWORD = 200;
/** Characters after trimming. */
export const MAX_NAME = 100;

/** The last check; the API's schemas give better messages before. @throws {ValidationError} naming every wrong field. */
export function assertCredentials(email: string, password: string): void {
  const errors: FieldError[] = [];
  if (email.length > MAX_EMAIL || !EMAIL_PATTERN.test(email)) {
    errors.push({ path: "email", message: "is not an e-mail address" });
  }
  errors.push(...passwordProblems(password, "password"));
  if (errors.length > 0) throw new ValidationError(errors);
}

/** `field`: of the request. @throws {ValidationError} */
export function assertPassword(password: string, field: string): void {
  const errors = passwordProblems(password, field);
  if (errors.length > 0) throw new ValidationError(errors);
}

function passwordProblems(password: string, path: string): FieldError[] {
  const isLong = password.length >= MIN_PASSWORD && password.length <= MAX_PASSWORD;
  return isLong ? [] : [{ path, message: `needs ${MIN_PASSWORD} to ${MAX_PASSWORD} characters` }];
}

/** @throws {ValidationError} */
export function readName(name: string | undefined, fallback: string): string {
  const trimmed = name?.trim() ?? "";
  if (trimmed.length > MAX_NAME) {
    throw new ValidationError([{ path: "name", message: `has more than ${MAX_NAME} characters` }]);
  }
  return trimmed === "" ? fallback : trimmed;
}

/** The scopes without repeats, in the order of {@link SCOPES}; all if undefined. @throws {ValidationError} */
export function readScopes(scopes: readonly string[] | undefined): Scope[] {
  const wanted = new Set((scopes ?? SCOPES).map((scope) => scope.trim()));
  const known = SCOPES.filter((scope) => wanted.has(scope));
  if (wanted.size === 0 || known.length !== wanted.size) {
    throw new ValidationError([{ path: "scopes", message: `takes one or more of ${SCOPES.join(", ")}` }]);
  }
  return known;
}

/** In micro-credits. @throws {ValidationError} */
export function readCredits(credits: number): number {
  try {
    return microFromCredits(credits);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new ValidationError([{ path: "credits", message: cause.message }]);
  }
}
