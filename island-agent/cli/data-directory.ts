import { join } from "node:path";

/** Returns the default directory for an Island's settings and models, the platform's folder for user data. */
export function defaultDataDirectory(env: Readonly<Record<string, string | undefined>>, platform: string): string {
  const home = env["HOME"] ?? env["USERPROFILE"] ?? ".";
  if (platform === "win32") return join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "atoll-island");
  if (platform === "darwin") return join(home, "Library", "Application Support", "atoll-island");
  return join(env["XDG_DATA_HOME"] ?? join(home, ".local", "share"), "atoll-island");
}
