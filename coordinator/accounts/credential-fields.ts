import { ValidationError, type FieldError } from "../../shared/errors.ts";
import { microFromCredits } from "../credits/micro-credits.ts";
import { SCOPES, type Scope } from "../store/accounts/credentials.ts";

export const MAX_EMAIL = 254;
/**
 * Pattern of e-mail addresses, as browsers check them: ASCII only, no quotes, comments or display names. Otherwise one
 * mailbox could have any number of accounts: mail servers read `<ann@example.com>` and `ann@ex\u00adample.com` as
 * `ann@example.com`. A domain in another alphabet has its ASCII form (xn--…). Source: HTML Standard, "valid email
 * address".
 */
export const EMAIL_PATTERN =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
export const MIN_PASSWORD = 8;
export const MAX_PASSWORD = 200;
/** Maximum length of a name in characters, after trimming. */
export const MAX_NAME = 100;

/** Checks an e-mail address and a password. @throws {ValidationError} with an entry for each invalid field */
export function assertCredentials(email: string, password: string): void {
  assertNone([...emailProblems(email), ...passwordProblems(password, "password")]);
}

/** Checks an e-mail address. @throws {ValidationError} */
export function assertEmail(email: string): void {
  assertNone(emailProblems(email));
}

/** Checks the length of a password. `field`: name of the request field. @throws {ValidationError} */
export function assertPassword(password: string, field: string): void {
  assertNone(passwordProblems(password, field));
}

function assertNone(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new ValidationError(errors);
}

function emailProblems(email: string): FieldError[] {
  const isAddress = email.length <= MAX_EMAIL && EMAIL_PATTERN.test(email);
  return isAddress ? [] : [{ path: "email", message: "must be an e-mail address" }];
}

function passwordProblems(password: string, path: string): FieldError[] {
  const isValidLength = password.length >= MIN_PASSWORD && password.length <= MAX_PASSWORD;
  return isValidLength ? [] : [{ path, message: `must have ${MIN_PASSWORD} to ${MAX_PASSWORD} characters` }];
}

/** Trims a name. Returns `fallback` for an empty or absent one. @throws {ValidationError} */
export function readName(name: string | undefined, fallback: string): string {
  const trimmed = name?.trim() ?? "";
  if (trimmed.length > MAX_NAME) {
    throw new ValidationError([{ path: "name", message: `must have at most ${MAX_NAME} characters` }]);
  }
  return trimmed === "" ? fallback : trimmed;
}

/** Returns scopes without duplicates in the order of {@link SCOPES}; all by default. @throws {ValidationError} */
export function readScopes(scopes: readonly string[] | undefined): Scope[] {
  const wanted = new Set((scopes ?? SCOPES).map((scope) => scope.trim()));
  const known = SCOPES.filter((scope) => wanted.has(scope));
  if (wanted.size === 0 || known.length !== wanted.size) {
    throw new ValidationError([{ path: "scopes", message: `must list one or more of ${SCOPES.join(", ")}` }]);
  }
  return known;
}

/** Converts credits to micro-credits. @throws {ValidationError} */
export function readCredits(credits: number): number {
  try {
    return microFromCredits(credits);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new ValidationError([{ path: "credits", message: cause.message }]);
  }
}
