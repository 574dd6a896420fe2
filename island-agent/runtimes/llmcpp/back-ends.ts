import { findPackageJSON, registerHooks } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const SCOPE = "@node-llama-cpp/";

/**
 * Back ends of llama.cpp that an owner can add (`island runtimes add`), by platform, with their packages. All are
 * large, and each is useful only on some machines. The agent includes the back ends for CPU and Metal.
 */
export const ADDED_BACK_ENDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "linux-x64": { cuda: ["linux-x64-cuda", "linux-x64-cuda-ext"], vulkan: ["linux-x64-vulkan"] },
  "win32-x64": { cuda: ["win-x64-cuda", "win-x64-cuda-ext"], vulkan: ["win-x64-vulkan"] },
};

/** Returns the npm packages of a back end; undefined if the platform has no back end with that name. */
export function packagesOf(platform: string, arch: string, name: string): readonly string[] | undefined {
  const packages = Object.entries(ADDED_BACK_ENDS[`${platform}-${arch}`] ?? {}).find(([each]) => each === name)?.[1];
  return packages?.map((each) => `${SCOPE}${each}`);
}

/** Returns the version of node-llama-cpp, which its back ends must match; null if it is not installed. */
export function llamaVersion(): string | null {
  try {
    const file = findPackageJSON("node-llama-cpp", import.meta.url);
    return file === undefined ? null : (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
  } catch {
    return null;
  }
}

export const backEndsFolder = (dataDirectory: string): string => join(dataDirectory, "runtimes");

/**
 * Returns the folder of a version's back ends; null without a version. After an upgrade of the agent, back ends of the
 * former version are not loaded.
 */
export function backEndFolder(dataDirectory: string, version = llamaVersion()): string | null {
  return version === null ? null : join(backEndsFolder(dataDirectory), `node-llama-cpp-${version}`);
}

/** Makes node-llama-cpp also find the back ends in `folder`. It imports them by name when it starts llama.cpp. */
export function loadBackEndsFrom(folder: string): void {
  const parentURL = pathToFileURL(join(folder, "package.json")).href;
  registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.startsWith(SCOPE)) return next(specifier, context);
      try {
        return next(specifier, context);
      } catch {
        return next(specifier, { ...context, parentURL });
      }
    },
  });
}
