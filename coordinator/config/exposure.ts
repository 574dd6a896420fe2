import { isIP } from "node:net";
import { ConfigError } from "../../shared/settings.ts";

export const REGISTRATIONS = ["open", "email", "closed"] as const;
export type Registration = (typeof REGISTRATIONS)[number];

interface Addresses {
  readonly host: string;
  readonly publicUrl: string | null;
  readonly trustProxy: boolean;
}

/** Whether others than this machine can reach the coordinator: it listens elsewhere, or there is a proxy before it. */
export function isExposed({ host, publicUrl, trustProxy }: Addresses): boolean {
  return !isLoopback(host) || trustProxy || (publicUrl !== null && !isLoopback(new URL(publicUrl).hostname));
}

/**
 * Who may register. Null in the configuration: nobody has chosen, which is "open" where only this machine can reach the coordinator.
 * @throws {ConfigError} without a choice elsewhere, and when `email` cannot send mail.
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
    throw new ConfigError(["registration: email needs smtp_url and mail_from, to send mail"]);
  }
  if (smtpUrl !== null && !/^smtps?:$/.test(URL.parse(smtpUrl)?.protocol ?? "")) {
    throw new ConfigError(["smtp_url: (hidden) is not a URL that begins with smtp:// or smtps://"]);
  }
  if (registration !== null || !isExposed(config)) return registration ?? "open";
  throw new ConfigError([
    `registration: not chosen, and others can reach this coordinator (${reachedBy(config)}). Set it to one of:`,
    '  "closed"  only you make accounts, with the command account create',
    '  "email"   whoever proves an e-mail address; needs smtp_url and mail_from',
    '  "open"    everybody; an account gets 10 credits unless new_account_credits says otherwise',
    'In the file: registration = "closed"; or --registration closed; or ATOLL_REGISTRATION=closed',
  ]);
}

function reachedBy({ host, publicUrl, trustProxy }: Addresses): string {
  if (!isLoopback(host)) return `host ${host}`;
  return publicUrl === null && trustProxy ? "trust_proxy" : `public_url ${publicUrl}`;
}

/** Whether a name or address is of this machine alone. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
