import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "atoll-wrapper-"));
const wrapper = join(folder, "island");

/** Creates a program that runs `script`. */
function makeProgram(file: string, script: string): void {
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

mkdirSync(join(folder, "bin"));
makeProgram(join(folder, "bin", "node"), 'shift; echo "$@"');
makeProgram(join(folder, "bin", "id"), "echo 1000");
const source = readFileSync(join(import.meta.dirname, "../../deploy/debian/atoll-island/island"), "utf8");
writeFileSync(wrapper, source.replaceAll("/usr/lib/atoll-island", folder));

/** Runs the command of the Debian package as a user without root rights, with a program that prints its arguments. */
function runAsUser(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync("sh", [wrapper, ...args], {
    encoding: "utf8",
    env: { PATH: `${join(folder, "bin")}:/usr/bin:/bin`, ...env },
  });
  expect(status).toBe(0);
  expect(stdout).toBe(`${args.join(" ")}\n`);
  return stderr;
}

describe("the command island of the Debian package", () => {
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([["status"], ["pause"], ["config", "set", "slots", "2"]])(
    "warns a user without root rights that %s does not control the service",
    (...args) => {
      expect(runAsUser(args)).toBe(
        "Without sudo, island uses your own data directory, not that of the service (/var/lib/atoll-island).\n" +
          `To control the service's Island: sudo island ${args[0]}\n`,
      );
    },
  );

  it.each([
    { args: ["status", "--data", "/srv/island"], env: {} },
    { args: ["status", "--data=/srv/island"], env: {} },
    { args: ["status"], env: { ATOLL_ISLAND_DATA: "/srv/island" } },
    { args: ["status"], env: { ATOLL_ISLAND_DATA: "island" } },
    { args: ["status", "--help"], env: {} },
    { args: ["--version"], env: {} },
    { args: ["help", "status"], env: {} },
    { args: [], env: {} },
  ])("does not warn for a selected data directory or help: $args $env", ({ args, env }) => {
    expect(runAsUser(args, env)).toBe("");
  });
});
