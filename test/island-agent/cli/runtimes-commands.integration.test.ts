import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  addBackEnd,
  describeBackEnds,
  listBackEnds,
  removeBackEnd,
  runNpm,
  type BackEndsLocation,
  type Npm,
} from "../../../island-agent/cli/runtimes-commands.ts";
import { llamaVersion } from "../../../island-agent/runtimes/llmcpp/back-ends.ts";
import { CliError } from "../../../shared/errors.ts";

let location: BackEndsLocation;
let npmArgs: string[];
const installs: Npm = async (args, folder) => {
  npmArgs.push(...args);
  for (const word of args.filter((each) => each.startsWith("@node-llama-cpp/"))) {
    const path = join(folder, "node_modules", word.slice(0, word.lastIndexOf("@")));
    await mkdir(path, { recursive: true });
    await writeFile(join(path, "package.json"), "{}");
  }
  return 0;
};

beforeEach(async () => {
  location = { dataDirectory: await mkdtemp(join(tmpdir(), "atoll-runtimes-")), platform: "linux", arch: "x64" };
  npmArgs = [];
});
afterEach(() => rm(location.dataDirectory, { recursive: true, force: true }));

const stateOf = async (name: string) => (await listBackEnds(location)).find((each) => each.name === name)?.state;

describe("island runtimes commands", () => {
  it("install the packages of the agent's version without running scripts, and remove them", async () => {
    expect(await stateOf("cuda")).toBe("not installed");
    await addBackEnd(location, "cuda", installs);
    expect(npmArgs).toContain("--ignore-scripts");
    expect(npmArgs).toContain(`@node-llama-cpp/linux-x64-cuda@${llamaVersion()}`);
    expect([await stateOf("cuda"), await stateOf("vulkan")]).toEqual(["installed", "not installed"]);
    expect(await removeBackEnd(location, "cuda")).toContain("Removed cuda");
    expect(await stateOf("cuda")).toBe("not installed");
  });

  it("list a back end of another agent version as outdated, and replace it", async () => {
    const old = join(location.dataDirectory, "runtimes", "node-llama-cpp-1.0.0");
    await installs(["@node-llama-cpp/linux-x64-vulkan@1.0.0"], old);
    expect(describeBackEnds(await listBackEnds(location))).toMatch(
      /^vulkan {2}outdated; to install it for this version: island runtimes add vulkan/m,
    );
    await addBackEnd(location, "vulkan", installs);
    expect(await readdir(join(location.dataDirectory, "runtimes"))).toEqual([`node-llama-cpp-${llamaVersion()}`]);
  });

  it.each([
    ["an unknown name", "rocm", "linux", 'No back end "rocm" for linux-x64: must be cuda or vulkan'],
    ["a platform without back ends", "cuda", "darwin", 'No back end "cuda" for darwin-x64: this platform has none'],
  ])("refuse %s", async (_, name, platform, message) => {
    const here = { ...location, platform };
    await expect(addBackEnd(here, name, installs)).rejects.toThrow(new CliError(message));
    await expect(removeBackEnd(here, name)).rejects.toThrow(message);
  });

  it("report that npm failed or is missing, or that nothing is installed", async () => {
    await expect(addBackEnd(location, "cuda", async () => 1)).rejects.toThrow(
      /^npm could not install @node-llama-cpp\//,
    );
    await expect(addBackEnd(location, "cuda", runNpm({ PATH: "/nonexistent" }))).rejects.toThrow("npm was not found");
    await expect(removeBackEnd(location, "cuda")).rejects.toThrow("cuda is not installed in");
  });
});
