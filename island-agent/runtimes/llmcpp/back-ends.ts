import { findPackageJSON, registerHooks } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const SCOPE = "@node-llama-cpp/";

/**
 * Back ends of llama.cpp that an owner adds (`island runtimes add`), by the platform that they are for, and the packages of each. All are
 * large, and of use on some machines alone. The CPU's and Metal come with the agent.
 */
export const ADDED_BACK_ENDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "linux-x64": { cuda: ["linux-x64-cuda", "linux-x64-cuda-ext"], vulkan: ["linux-x64-vulkan"] },
  "win32-x64": { cuda: ["win-x64-cuda", "win-x64-cuda-ext"], vulkan: ["win-x64-vulkan"] },
};

/** Names of the npm packages of a back end; undefined where the platform has none of that name. */
export function packagesOf(platform: string, arch: string, name: string): readonly string[] | undefined {
  const packages = Object.entries(ADDED_BACK_ENDS[`${platform}-${arch}`] ?? {}).find(([each]) => each === name)?.[1];
  return packages?.map((each) => `${SCOPE}${each}`);
}

/** The version of node-llama-cpp, which its back ends must have too; null where it is not installed. */
export function llamaVersion(): string | null {
  try {
    const file = findPackageJSON("node-llama-cpp", import.meta.url);
    return file === undefined ? null : (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
  } catch {
    return null;
  }
}

/** Where all added back ends of an Island are. */
export const backEndsFolder = (dataDirectory: string): string => join(dataDirectory, "runtimes");

/** Where those for a version are: after an upgrade of the agent, those of the former version are not loaded. Null without a version. */
export function backEndFolder(dataDirectory: string, version = llamaVersion()): string | null {
  return version === null ? null : join(backEndsFolder(dataDirectory), `node-llama-cpp-${version}`);
}

/** From now on node-llama-cpp finds the back ends in `folder`, too. It imports them by name when it starts llama.cpp. */
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
