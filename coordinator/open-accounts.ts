import type { Logger } from "pino";
import type { Clock } from "../shared/clock.ts";
import { accountMail } from "./accounts/account-mail.ts";
import { AccountService, type AccountServiceDeps } from "./accounts/account-service.ts";
import type { Registration } from "./config/exposure.ts";
import type { CoordinatorConfig } from "./config/resolve-config.ts";

export interface OpenAccountsDeps extends Pick<AccountServiceDeps, "store" | "credentials"> {
  readonly config: CoordinatorConfig;
  readonly registration: Registration;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The accounts, with who may register and how mails leave by the settings. */
export function openAccounts({ config, registration, ...deps }: OpenAccountsDeps): AccountService {
  const mail = accountMail(config, registration, deps);
  return new AccountService({ ...deps, ...mail, newAccountMicro: config.newAccountMicro });
}
