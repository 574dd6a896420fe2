import { existsSync, mkdtempSync } from "node:fs";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addAccountCommands } from "../../../bin/main/coordinator/account-commands.ts";
import { Program, runProgram, type ProgramResult } from "../../support/program.ts";
import { runCommand } from "../../support/run-command.ts";
import { expectRefusal } from "../../support/refusal.ts";
import { smallCatalog } from "../../support/small-catalog.ts";

const folder = mkdtempSync(join(tmpdir(), "atoll-cli-"));
const EMAIL = "ann@example.com";
let data: string;

const CATALOG = ["--catalog-directory", smallCatalog()] as const;
const SERVE = ["serve", "--port", "0", ...CATALOG] as const;

const coordinator = (...args: string[]): Promise<ProgramResult> => runProgram("coordinator", ...args);
const manage = (...args: string[]): Promise<ProgramResult> => runCommand(...args, "--data", data);

async function manageJson<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await manage(...args, "--json");
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

beforeAll(async () => {
  data = join(folder, "data");
  await manageJson("account", "create", "--email", EMAIL, "--password", "correct horse");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it("coordinator serve on a public address requires a registration setting, and creates nothing", async () => {
  const data = join(folder, "never");
  const { code, stdout, stderr } = await coordinator(...SERVE, "--public-url", "https://atoll.example", "--data", data);
  expect([code, stdout, stderr.split("\n")[0]]).toEqual([
    1,
    "",
    "registration: required, because other machines can reach this coordinator (public_url https://atoll.example). Set it to one of:",
  ]);
  for (const choice of ['"closed"', '"email"', '"open"']) expect(stderr).toContain(choice);
  expect(existsSync(join(data, "atoll.db"))).toBe(false);
});

describe("coordinator serve rejects in one line", () => {
  const serve = (...args: string[]): Promise<ProgramResult> =>
    coordinator(...SERVE, "--data", join(folder, "unused"), "--log-level", "warn", ...args);

  it("a port that is in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    const port = await new Promise<number>((resolve) => {
      other.once("listening", () => resolve((other.address() as AddressInfo).port));
    });
    const refused = await serve("--port", String(port));
    other.close();
    expectRefusal(
      refused,
      `Port ${port} of 127.0.0.1 is in use by another program. Stop that program or set another port`,
    );
  });

  it("a host that is not an address of the machine", async () => {
    // Reserved for documentation by RFC 5737.
    const refused = await serve("--host", "192.0.2.1", "--registration", "closed");
    expectRefusal(refused, "192.0.2.1 is not an address of this machine. Set host to an address of this machine");
  });

  it("a --config that is missing, and one that is a directory", async () => {
    const missing = join(folder, "missing.toml");
    expectRefusal(await serve("--config", missing), `${missing}: no such file or directory. Check the path`);
    expectRefusal(
      await serve("--config", folder),
      `${folder}: must be a file, but it is a directory. Give the path of a file`,
    );
  });

  it("a --data that is a file, or below one", async () => {
    const path = await file("a-file", "");
    expectRefusal(await serve("--data", path), `${path}: must be a directory, but it is a file. Give another path`);
    const below = join(path, "below");
    expectRefusal(
      await serve("--data", below),
      `${below}: a parent of this path must be a directory, but it is a file. Check the path`,
    );
  });

  it("an atoll.db that is not a database", async () => {
    const directory = join(folder, "no-database");
    await mkdir(directory);
    const path = await file("no-database/atoll.db", "This is a letter to a friend. ".repeat(200));
    expectRefusal(
      await serve("--data", directory),
      `${path}: cannot be used as the coordinator's database: file is not a database`,
    );
  });

  it("a database that is newer than the program", async () => {
    const directory = join(folder, "newer");
    await runCommand("account", "create", "--email", EMAIL, "--password", "correct horse", "--data", directory);
    const db = new Database(join(directory, "atoll.db"));
    db.prepare("INSERT INTO migrations (version, name, checksum, applied_at_ms) VALUES (99, 'later', 'x', 1)").run();
    db.close();
    expectRefusal(await serve("--data", directory), /^The database is newer than this program: .*$/);
  });

  it("a catalog that is missing, and a default chat Cargo that is not in it", async () => {
    const missing = join(folder, "no-catalog");
    expectRefusal(await serve("--catalog-directory", missing), /^\S+no-catalog\/cargos: .*$/);
    expectRefusal(
      await serve("--default-chat-cargo", "gpt-17"),
      /^default_chat_cargo: "gpt-17" is not in the catalog; chat Cargos: .*tiny-chat/,
    );
  });

  it("an invalid number", async () => {
    expectRefusal(await serve("--port", ""), '--port: must be an integer from 0 to 65535, got ""');
  });
});

describe("coordinator serve on a data directory in use", () => {
  it("is rejected while other commands work, and succeeds after kill -9 of the first process", async () => {
    const args = [...SERVE, "--data", data, "--log-level", "warn"];
    await using first = new Program("coordinator", args);
    await first.printed(/listening on/);
    expectRefusal(
      await coordinator(...args),
      `${data}: another coordinator uses this data directory. Stop it first, or use another directory`,
    );
    expect((await coordinator("key", "create", "--email", EMAIL, "--data", data)).stdout).toMatch(/^ak_\w{40}\n$/);
    first.kill("SIGKILL");
    await first.ended();
    await using third = new Program("coordinator", args);
    await third.printed(/listening on/);
  });

  it("is rejected even under another path of the directory", async () => {
    await using first = new Program("coordinator", [...SERVE, "--data", data, "--log-level", "warn"]);
    await first.printed(/listening on/);
    const alias = join(folder, "alias");
    await symlink(data, alias);
    const refused = await coordinator(...SERVE, "--data", alias);
    expectRefusal(
      refused,
      `${alias}: another coordinator uses this data directory. Stop it first, or use another directory`,
    );
  });
});

describe("coordinator account create", () => {
  const create = (email: string, ...args: string[]): Promise<ProgramResult> =>
    manage("account", "create", "--email", email, ...args);
  const PASSWORD = ["--password", "correct horse"];

  it("rejects credits that are not a number", async () => {
    expectRefusal(
      await create("credits@example.com", ...PASSWORD, "--credits=1e3"),
      '--credits: must be a decimal number of 0 or more, such as 2.5, got "1e3"',
      2,
    );
    for (const credits of ["", " ", "1e3", "ten", "-1", "0x10", "Infinity"]) {
      const program = new Command().exitOverride();
      addAccountCommands(program);
      const flags = ["--email", "credits@example.com", ...PASSWORD, `--credits=${credits}`, "--data", data];
      await expect(program.parseAsync(["account", "create", ...flags], { from: "user" })).rejects.toThrow(
        `--credits: must be a decimal number of 0 or more, such as 2.5, got ${JSON.stringify(credits)}`,
      );
    }
  });

  it("refuses a password that is too short, and a taken address", async () => {
    expectRefusal(await create("b@example.com", "--password", "short"), "password: must have 8 to 200 characters");
    expectRefusal(await create(EMAIL, ...PASSWORD), "An account with this e-mail address already exists");
  });

  it("explains how to supply a missing password", async () => {
    expectRefusal(await create("c@example.com"), /^No password was given\. .*ATOLL_PASSWORD/, 2);
  });

  it("reads the password from ATOLL_PASSWORD", async () => {
    const args = ["account", "create", "--email", "d@example.com", "--data", data];
    await using program = new Program("coordinator", args, { ATOLL_PASSWORD: "correct horse" });
    expect((await program.ended()).stdout).toMatch(/^user_\w{26}\n$/);
  });

  it("reads the password from standard input with --password -", async () => {
    const args = ["account", "create", "--email", "e@example.com", "--password", "-", "--data", data];
    await using long = new Program("coordinator", args, {}, "correct horse\n");
    expect((await long.ended()).stdout).toMatch(/^user_\w{26}\n$/);
    await using short = new Program("coordinator", args.with(3, "f@example.com"), {}, "short\n");
    expectRefusal(await short.ended(), "password: must have 8 to 200 characters");
  });

  it("creates a key and an Island token on request", async () => {
    const made = await manageJson<object>(
      ...["account", "create", "--email", "g@example.com", ...PASSWORD, "--credits", "1.5"],
      ...["--with-key", "--with-island-token"],
    );
    expect(made).toEqual({
      id: expect.stringMatching(/^user_/),
      email: "g@example.com",
      credits: 1.5,
      key: expect.stringMatching(/^ak_\w{40}$/),
      island_token: expect.stringMatching(/^it_\w{40}$/),
    });
  });

  it("reports that it creates a new database", async () => {
    const fresh = join(folder, "fresh");
    const args = ["account", "create", "--email", EMAIL, ...PASSWORD, "--data", fresh];
    expect((await runCommand(...args)).stderr).toBe(`Created a database in ${fresh}\n`);
    expect(await readdir(fresh)).toEqual(["atoll.db", "webhooks.key"]);
  });
});

describe("the other commands on accounts", () => {
  it("reject a directory without a coordinator's data, and create nothing there", async () => {
    const typo = join(folder, "typo");
    for (const command of [["key"], ["island-token"]]) {
      const refused = await runCommand(...command, "create", "--email", EMAIL, "--data", typo);
      expectRefusal(
        refused,
        `No coordinator data in ${typo}. Check --data, or create a network with: coordinator init, or coordinator serve`,
      );
    }
    expect(await readdir(folder)).not.toContain("typo");
  });

  it("reject an unknown account", async () => {
    expectRefusal(
      await manage("key", "create", "--email", "no@example.com"),
      /^No account has the e-mail address no@example\.com\. List all accounts with: .*coordinator.* account list$/,
    );
  });

  it.each([
    ["key", "key", "API key"],
    ["island-token", "token", "Island token"],
  ])(
    "show valid entries without secrets with %s list, and end them with revoke",
    async (command, secretField, what) => {
      const email = `${command}@example.com`;
      await manageJson("account", "create", "--email", email, "--password", "correct horse");
      const made = await manageJson<Record<string, string>>(command, "create", "--email", email, "--name", "attic");
      const id = made["id"] as string;
      const listed = await manageJson<Record<string, string>[]>(command, "list", "--email", email);
      expect(listed).toMatchObject([{ id, name: "attic", created_at: expect.stringMatching(/Z$/) }]);
      const shown = (await manage(command, "list", "--email", email)).stdout;
      expect(shown).toContain(id);
      expect(shown + JSON.stringify(listed)).not.toContain(made[secretField]);
      const revoke = [command, "revoke", "--email", email, "--id", id];
      expect(await manageJson(...revoke)).toEqual({ id, revoked: true });
      expectRefusal(
        await manage(...revoke),
        new RegExp(
          `^${email} has no active ${what} with the id ${id}\\. List the ids with: .* ${command} list --email ${email}$`,
        ),
      );
      expect(await manageJson(command, "list", "--email", email)).toEqual([]);
    },
  );
});
