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

let place: BackEndsLocation;
let asked: string[];
const installs: Npm = async (args, folder) => {
  asked.push(...args);
  for (const word of args.filter((each) => each.startsWith("@node-llama-cpp/"))) {
    const path = join(folder, "node_modules", word.slice(0, word.lastIndexOf("@")));
    await mkdir(path, { recursive: true });
    await writeFile(join(path, "package.json"), "{}");
  }
  return 0;
};

beforeEach(async () => {
  place = { dataDirectory: await mkdtemp(join(tmpdir(), "atoll-runtimes-")), platform: "linux", arch: "x64" };
  asked = [];
});
afterEach(() => rm(place.dataDirectory, { recursive: true, force: true }));

const stateOf = async (name: string) => (await listBackEnds(place)).find((each) => each.name === name)?.state;

describe("island runtimes", () => {
  it("add installs the packages of the agent's version, and no script runs; remove deletes them", async () => {
    expect(await stateOf("cuda")).toBe("not installed");
    await addBackEnd(place, "cuda", installs);
    expect(asked).toContain("--ignore-scripts");
    expect(asked).toContain(`@node-llama-cpp/linux-x64-cuda@${llamaVersion()}`);
    expect([await stateOf("cuda"), await stateOf("vulkan")]).toEqual(["installed", "not installed"]);
    expect(await removeBackEnd(place, "cuda")).toContain("Removed cuda");
    expect(await stateOf("cuda")).toBe("not installed");
  });

  it("list tells of a back end for another version of the agent, which add replaces", async () => {
    const old = join(place.dataDirectory, "runtimes", "node-llama-cpp-1.0.0");
    await installs(["@node-llama-cpp/linux-x64-vulkan@1.0.0"], old);
    expect(describeBackEnds(await listBackEnds(place))).toMatch(
      /^vulkan {2}outdated; to install it for this version: island runtimes add vulkan/m,
    );
    await addBackEnd(place, "vulkan", installs);
    expect(await readdir(join(place.dataDirectory, "runtimes"))).toEqual([`node-llama-cpp-${llamaVersion()}`]);
  });

  it.each([
    ["an unknown name", "rocm", "linux", 'No back end "rocm" for linux-x64: must be cuda or vulkan'],
    ["a platform without any", "cuda", "darwin", 'No back end "cuda" for darwin-x64: this platform has none'],
  ])("refuses %s", async (_, name, platform, message) => {
    const here = { ...place, platform };
    await expect(addBackEnd(here, name, installs)).rejects.toThrow(new CliError(message));
    await expect(removeBackEnd(here, name)).rejects.toThrow(message);
  });

  it("says what went wrong: npm failed, npm is missing, nothing to remove", async () => {
    await expect(addBackEnd(place, "cuda", async () => 1)).rejects.toThrow(/^npm could not install @node-llama-cpp\//);
    await expect(addBackEnd(place, "cuda", runNpm({ PATH: "/nonexistent" }))).rejects.toThrow("npm was not found");
    await expect(removeBackEnd(place, "cuda")).rejects.toThrow("cuda is not installed in");
  });
});
