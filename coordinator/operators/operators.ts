import type { ResolvedSetting, SettingDescription } from "../../shared/settings.ts";
import type { Store } from "../store/store.ts";
import type { RemoteModels } from "./add-model.ts";
import type { Announcements } from "./announcements.ts";
import type { NetworkView } from "./network-view.ts";
import type { OperatorAccounts } from "./operator-accounts.ts";
import type { OperatorAudits } from "./operator-audits.ts";
import type { OperatorCargos } from "./operator-cargos.ts";
import type { OperatorIslands } from "./operator-islands.ts";
import type { OperatorStandings } from "./operator-standings.ts";

/** A setting and its value at this coordinator. */
export type SettingInForce = Omit<SettingDescription, "type" | "group"> & Pick<ResolvedSetting, "shown" | "source">;

/** The parts of the operator API. */
export interface Operators {
  readonly network: Pick<NetworkView, "overview">;
  readonly accounts: OperatorAccounts;
  readonly islands: OperatorIslands;
  readonly audits: OperatorAudits;
  readonly standings: OperatorStandings;
  readonly jobs: Pick<Store["operators"], "jobs">;
  readonly cargos: OperatorCargos;
  readonly models: RemoteModels;
  readonly announcements: Announcements;
  readonly audit: Pick<Store["audit"], "list">;
  readonly settings: readonly SettingInForce[];
}

/** Returns all settings. A value equal to the default is a default, even in the file: `init` writes all settings. */
export function settingsInForce(
  described: readonly SettingDescription[],
  inForce: readonly ResolvedSetting[],
): SettingInForce[] {
  const resolved = new Map(inForce.map((each) => [each.key, each]));
  return described.map((description) => {
    const { shown = null, source = "default" } = resolved.get(description.key) ?? {};
    const isDefault = source === "file" && shown === description.fallback;
    return { ...description, shown, source: isDefault ? "default" : source };
  });
}
