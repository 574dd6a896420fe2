import type { ResolvedSetting, SettingDescription } from "../../shared/settings.ts";
import type { Store } from "../store/store.ts";
import type { Announcements } from "./announcements.ts";
import type { NetworkView } from "./network-view.ts";
import type { OperatorAccounts } from "./operator-accounts.ts";
import type { OperatorCatalog } from "./operator-catalog.ts";
import type { OperatorIslands } from "./operator-islands.ts";

/** A setting as it is in force at this coordinator. */
export type SettingInForce = SettingDescription & Pick<ResolvedSetting, "shown" | "source">;

/** What the API offers operators. */
export interface Operators {
  readonly network: Pick<NetworkView, "overview">;
  readonly accounts: Pick<OperatorAccounts, "list" | "get" | "setLimits" | "grant" | "suspend" | "reinstate">;
  readonly islands: Pick<OperatorIslands, "list" | "get" | "suspend" | "reinstate">;
  readonly jobs: Pick<Store["operators"], "jobs">;
  readonly catalog: Pick<OperatorCatalog, "list" | "review" | "pinned" | "approve" | "setDisabled" | "setPrice">;
  readonly announcements: Pick<Announcements, "list" | "add" | "remove">;
  readonly audit: Pick<Store["audit"], "list">;
  readonly settings: readonly SettingInForce[];
}
