import type { SettingDescription, ResolvedSetting } from "../../shared/settings.ts";

/** A setting with its value in force. */
export type SettingInForce = SettingDescription & Pick<ResolvedSetting, "shown" | "source">;

/** A value that is the default counts as that, although it is in the file: `init` writes all settings there. */
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
