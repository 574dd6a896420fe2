import { isLoopback } from "../../shared/net/loopback.ts";
import { ConfigError } from "../../shared/settings.ts";

export const REGISTRATIONS = ["open", "email", "closed"] as const;
export type Registration = (typeof REGISTRATIONS)[number];

interface Addresses {
  readonly host: string;
  readonly publicUrl: string | null;
  readonly trustProxy: boolean;
}

/** Returns whether other machines can reach the coordinator, directly or through a proxy. */
export function isExposed({ host, publicUrl, trustProxy }: Addresses): boolean {
  return !isLoopback(host) || trustProxy || (publicUrl !== null && !isLoopback(new URL(publicUrl).hostname));
}

/**
 * Returns the registration in force; an unset setting means "open" if only this machine can reach the coordinator.
 * @throws {ConfigError} if it is unset and other machines can reach the coordinator, or if `email` has no mail server
 */
export function registrationOf(
  config: Addresses & {
    readonly registration: Registration | null;
    readonly smtpUrl: string | null;
    readonly mailFrom: string | null;
  },
): Registration {
  const { registration, smtpUrl, mailFrom } = config;
  if (registration === "email" && (smtpUrl === null || mailFrom === null)) {
    throw new ConfigError([
      "registration: email requires smtp_url and mail_from. Set both, or choose another registration",
    ]);
  }
  if (smtpUrl !== null && !/^smtps?:$/.test(URL.parse(smtpUrl)?.protocol ?? "")) {
    throw new ConfigError(["smtp_url: must be a URL that begins with smtp:// or smtps://, got (hidden)"]);
  }
  if (registration !== null || !isExposed(config)) return registration ?? "open";
  throw new ConfigError([
    `registration: required, because other machines can reach this coordinator (${reachedBy(config)}). Set it to one of:`,
    '  "closed"  only operators create accounts, with the command account create',
    '  "email"   anyone with a confirmed e-mail address; requires smtp_url and mail_from',
    '  "open"    anyone; a new account gets 10 credits, unless new_account_credits is set',
    'In the file: registration = "closed"; as a flag: --registration closed; as a variable: ATOLL_REGISTRATION=closed',
  ]);
}

function reachedBy({ host, publicUrl, trustProxy }: Addresses): string {
  if (!isLoopback(host)) return `host ${host}`;
  return publicUrl === null && trustProxy ? "trust_proxy" : `public_url ${publicUrl}`;
}
