import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ISLAND } from "../../../tools/packages/published-packages.ts";
import { commandsFor, SYSTEMS } from "../../../web/src/pages/host/join-commands.ts";

const COMMANDS = join(import.meta.dirname, "..", "..", "..", "bin", "main");
const AGENT = readdirSync(COMMANDS, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))

  .map((name) => readFileSync(join(COMMANDS, name), "utf8"))
  .join("\n");

it.each(SYSTEMS)("the commands that add an Island exist: $label", ({ id }) => {
  const [install, ...own] = commandsFor(id, "https://atoll.example", "K7WM-3QXA").map(({ command }) => command);
  expect(install).toBe(`npm install --global ${ISLAND.name}`);
  expect(own[0]).toBe("island join https://atoll.example --code K7WM-3QXA");
  for (const command of own) {
    const [program, name] = command.split(" ");
    expect(program).toBe(ISLAND.command);
    expect(AGENT).toContain(`.command("${name}")`);
  }
});
