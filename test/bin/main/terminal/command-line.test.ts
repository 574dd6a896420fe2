import { Command } from "commander";
import { afterEach, describe, expect, it } from "vitest";
import { coordinatorName, givenFlags, islandName } from "../../../../bin/main/terminal/command-line.ts";

describe("givenFlags()", () => {
  const flagsOf = (...args: string[]): string => {
    const command = new Command().option("--config <file>").option("--store <address>").option("--yes");
    return givenFlags(command.parse(args, { from: "user" }), ["yes"]);
  };

  it("quotes values for a shell, and omits the excluded flags", () => {
    expect(flagsOf("--config", "my atoll/it's.toml", "--yes")).toBe(String.raw` --config 'my atoll/it'\''s.toml'`);
  });

  it.each([
    ["postgres://ann:s3cret@db.example:5432/atoll", "postgres://ann@db.example:5432/atoll"],
    ["postgres://db.example/atoll?user=ann&password=s3cret", "'postgres://db.example/atoll?user=ann'"],
    ["postgres://ann@db.example/atoll?sslmode=require", "'postgres://ann@db.example/atoll?sslmode=require'"],
  ])("prints %s as %s, without its password", (given, printed) => {
    expect(flagsOf("--store", given)).toBe(` --store ${printed}`);
  });
});

describe("coordinatorName() and islandName()", () => {
  const { argv, env } = process;
  const event = env["npm_lifecycle_event"];
  afterEach(() => {
    process.argv = argv;
    if (event !== undefined) env["npm_lifecycle_event"] = event;
  });

  it("return Node.js and the script if neither a package nor npm started the process", () => {
    delete env["npm_lifecycle_event"];
    process.argv = [process.execPath, "/opt/my atoll/bin/coordinator.ts"];
    expect(coordinatorName()).toBe(`${process.execPath} '/opt/my atoll/bin/coordinator.ts'`);
    expect(islandName()).toBe(`${process.execPath} '/opt/my atoll/bin/island.ts'`);
  });

  it("return the names of installed packages", () => {
    delete env["npm_lifecycle_event"];
    process.argv = [process.execPath, "/usr/local/bin/atoll-coordinator"];
    expect([coordinatorName(), islandName()]).toEqual(["atoll-coordinator", "island"]);
  });
});
