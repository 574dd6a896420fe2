import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ISLAND } from "../../../tools/packages/published-packages.ts";
import { commandsFor, isLoopback, systemsFor } from "../../../web/src/pages/host/join-commands.ts";

const COMMANDS = join(import.meta.dirname, "..", "..", "..", "bin", "main");
const AGENT = readdirSync(COMMANDS, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))

  .map((name) => readFileSync(join(COMMANDS, name), "utf8"))
  .join("\n");
const ADDRESS = "https://atoll.example/prefix";

const download = (name: string, format: "npm" | "deb" | "wheel", version = "0.1.0") => ({
  ...({ name, path: `/download/${name}`, package: name.includes("client") ? "client" : "island" } as const),
  ...{ format, version, size_bytes: 1, sha256: "ab".repeat(32) },
});
const FILES = [
  download("atoll-island_0.2.0_amd64.deb", "deb", "0.2.0"),
  download("atoll-client-0.2.0.tgz", "npm", "0.2.0"),
  download("atoll-island-0.1.0.tgz", "npm"),
  download("atoll-island_0.1.0_amd64.deb", "deb"),
];
const systems = systemsFor(FILES).flatMap((system) =>
  system.file === undefined ? [] : [{ ...system, file: system.file }],
);

describe("join commands", () => {
  it("support three systems through npm, and Debian, with the newest package of each", () => {
    expect(systems.map(({ label, file }) => [label, file.name])).toEqual([
      ["Linux", "atoll-island-0.1.0.tgz"],
      ["macOS", "atoll-island-0.1.0.tgz"],
      ["Windows", "atoll-island-0.1.0.tgz"],
      ["Debian, Ubuntu (amd64)", "atoll-island_0.2.0_amd64.deb"],
    ]);
  });

  it("are missing if the coordinator serves no package", () => {
    expect(systemsFor(FILES.slice(1, 2)).map(({ id, file }) => [id, file])).toEqual([
      ["linux", undefined],
      ["macos", undefined],
      ["windows", undefined],
    ]);
  });

  it.each(systems)("download, verify and install the package: $label", (system) => {
    const commands = commandsFor(system, ADDRESS).map(({ command }) => command);
    expect(commands.find((command) => command.startsWith("curl"))).toMatch(
      new RegExp(`^curl(\\.exe)? -fLO ${ADDRESS}/download/${system.file.name}$`),
    );
    expect(commands.filter((command) => command.includes(system.file.sha256))).toHaveLength(1);
    // The prefix is needed because the install directory of the user's npm is not on the PATH.
    const options = ["linux", "macos"].includes(system.id) ? " --prefix ~/.local" : "";
    const install = system.file.format === "deb" ? "sudo apt install" : `npm install --global${options}`;
    expect(commands.filter((command) => command.includes(`${install} ./${system.file.name}`))).toHaveLength(1);
    expect(commands.filter((command) => command.includes("node@24"))).toEqual(
      options === "" ? [] : [expect.stringContaining(`${install} node@24`)],
    );
  });

  it.each(systems)("call only existing commands, and do not contain the pairing code: $label", (system) => {
    const own = commandsFor(system, ADDRESS)
      .map(({ command }) => command.replace(/^sudo /, ""))
      .filter((command) => command.startsWith(`${ISLAND.command} `));
    expect(own[0]).toBe(`island join ${ADDRESS}`);
    for (const command of own) expect(AGENT).toContain(`.command("${command.split(" ")[1]}")`);
  });
});

describe("isLoopback", () => {
  it.each([
    ["http://127.0.0.1:8080", true],
    ["http://localhost", true],
    ["http://[::1]:8080", true],
    ["http://192.168.1.5:8080", false],
    ["https://localhost.example", false],
  ])("classifies %s", (address, isLocal) => {
    expect(isLoopback(address)).toBe(isLocal);
  });
});
