import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { startTestEngine } from "../support/servers/container-engine.ts";
import { call, until } from "../support/http/http.ts";
import { Program } from "../support/program.ts";
import { requireDebian } from "../support/servers/require-debian.ts";
import { HAS_EVERY_ROUND } from "../support/soak-rounds.ts";
import { commandsFor, systemsFor } from "../../web/src/pages/host/join-commands.ts";
import { bytesIn, cloneInto, freshEnvironment, npm } from "./clone.ts";
import { importImage, installInside, makeDebianRoot, runInside } from "./debian-root.ts";

const run = promisify(execFile);
const MB = 1_000_000;
/** Running tests create these folders, so that skipped tests leave no files. */
const folder = join(tmpdir(), `atoll-packages-${randomUUID()}`);
const clone = join(folder, "clone");
const env = freshEnvironment(folder);
const tarball = (name: string): string => join(clone, "dist", `atoll-${name}-${manifest.version}.tgz`);
const deb = (name: string): string => join(clone, "dist", "deb", `atoll-${name}_${manifest.version}_amd64.deb`);
const installed = (name: string): string => join(folder, "home", ".local", "lib", "node_modules", "@atoll", name);
const QUESTION = { messages: [{ role: "user", content: "What is 7 plus 8?" }], temperature: 0 };
const ANSWER = "7 plus 8 is 15.";

for (const name of ["curl", "debootstrap"]) requireDebian(name, name);
requireDebian("docker", "docker.io");
if (process.arch !== "x64" || process.getuid?.() !== 0) throw new Error("Tests of Debian packages need root on x64");

/** Returns URLs in the console's page that do not load, or the URL of the page if there is no console. */
async function brokenFilesOf(url: string): Promise<string[]> {
  const page = await fetch(`${url}/`, { headers: { Accept: "text/html" } });
  const html = await page.text();
  const names = [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g)].map(([, name = ""]) => name);
  const isConsole =
    page.ok && names.some((name) => name.endsWith(".js")) && names.some((name) => name.endsWith(".css"));
  const broken = isConsole ? [] : ["/"];
  for (const name of names) {
    const file = await fetch(new URL(name, `${url}/`));
    const size = (await file.arrayBuffer()).byteLength;
    if (!file.ok || size === 0 || /html/.test(file.headers.get("content-type") ?? "")) broken.push(name);
  }
  return broken;
}

const entry = (name: string): string => join(installed(name), "dist", "bin", `${name}.js`);

interface InstalledNetwork {
  readonly coordinator: Program;
  readonly url: string;
  readonly key: string;
  readonly token: string;
  readonly config: string;
  /** Returns the next step that `init` prints. */
  readonly next: string;
}

/** Starts the installed coordinator, which serves the agent's package. */
async function serveInstalled(): Promise<InstalledNetwork> {
  const words = ["init", join(folder, "atoll"), "--email", "ann@example.com", "--port", "0", "--json"];
  const { stdout } = await run("atoll-coordinator", words, { env: { ...env, ATOLL_PASSWORD: "correct horse" } });
  const { key = "", config = "", island_token: token = "", next = "" } = JSON.parse(stdout) as Record<string, string>;
  const served = join(folder, "atoll", "data", "downloads");
  await mkdir(served);
  await copyFile(tarball("island"), join(served, basename(tarball("island"))));
  const coordinator = new Program(entry("coordinator"), ["serve", "--config", config], { HOME: folder });
  const [, url = ""] = await coordinator.printed(/listening on (\S+)\n/);
  return { coordinator, url, key, token, config, next };
}

/** Runs the commands of "Add an Island" up to the installation. @returns their output. */
async function installAsPrinted(url: string): Promise<string> {
  const { files } = (await call(url, null, "GET", "/downloads")).body.data;
  const [linux] = systemsFor(files);
  if (linux?.file === undefined) throw new Error("The coordinator does not serve the agent's package");
  const commands = commandsFor({ ...linux, file: linux.file }, url).map(({ command }) => command);
  const ofUs = commands.slice(commands.findIndex((command) => command.startsWith("curl ")));
  const script = ofUs.slice(
    0,
    ofUs.findIndex((command) => command.startsWith("island ")),
  );
  const { stdout, stderr } = await run("sh", ["-ec", script.join("\n")], { cwd: folder, env });
  // Removes the progress output of curl, because npm did not write it.
  return `${stdout}\n${stderr.replaceAll(/^.*\r|^ +%.*\n|^ +Dload.*\n/gm, "")}`;
}

describe("packages", () => {
  let said = "";
  let network: InstalledNetwork;
  beforeAll(async () => {
    await mkdir(folder, { mode: 0o700 });
    await cloneInto(folder);
    await mkdir(join(folder, "home"));
    await npm(["run", "packages"], clone, { ...process.env });
    said = await npm(["install", "--global", tarball("coordinator")], folder, env);
    network = await serveInstalled();
    said += await installAsPrinted(network.url);
  }, 1_200_000);
  afterAll(async () => {
    await network.coordinator[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  describe("npm install --global of the packed tarballs", () => {
    it("runs no install scripts and prints no warnings, with the console's commands for the agent", () => {
      expect(said.match(/^added \d+ packages/gm)).toHaveLength(2);
      expect(said).toContain(`${basename(tarball("island"))}: OK`);
      expect(said).not.toMatch(/warn|script/i);
    });

    it("takes less than 150 MB for a coordinator and 400 MB for a CPU-only Island", async () => {
      expect(await bytesIn(installed("coordinator"))).toBeLessThan(150 * MB);
      expect(await bytesIn(installed("island"))).toBeLessThan(400 * MB);
    });

    it("takes the disk space that the install pages state, within 10 %", async () => {
      const pages = {
        coordinator: [/(\d+) MB of disk/, "operate"],
        island: [/atoll-island-0\.1\.0\.tgz` \| (\d+) MB/, "host"],
      } as const;
      for (const [name, [pattern, folder]] of Object.entries(pages)) {
        const page = await readFile(join(clone, "docs", folder, "install.md"), "utf8");
        const stated = Number(pattern.exec(page)?.[1]) * MB;
        expect(Math.abs((await bytesIn(installed(name))) - stated), name).toBeLessThan(stated / 10);
      }
    });

    it("installs working commands for init, serve, console, join, start and chat, and all CPU runtimes", async () => {
      const { url, key, token, config, next } = network;
      expect(next).toBe(`atoll-coordinator serve --config ${config}`);
      expect(await brokenFilesOf(url)).toEqual([]);
      const data = ["--data", join(folder, "island-data")];
      await run("island", ["join", url, ...data], { env: { ...env, ISLAND_COORDINATOR_TOKEN: token } });
      const settings = { HOME: folder, ISLAND_MODELS_PRELOAD: "false" };
      await using island = new Program(entry("island"), ["start", ...data], settings);
      await island.printed(/connected to/);
      const chat = await call(url, key, "POST", "/chat/completions", QUESTION);
      expect(chat.body.choices[0].message.content).toBe(ANSWER);
      const doctor = await run("island", ["doctor", "--json", ...data], { env });
      const { runtimes } = JSON.parse(doctor.stdout) as { runtimes: { type: string; probe: { usable: boolean } }[] };
      const usable = runtimes.filter(({ probe }) => probe.usable).map(({ type }) => type);
      expect(usable).toEqual(expect.arrayContaining(["llmcpp", "onnx", "diffusers", "wasm"]));
    }, 300_000);

    it("installs the client in a separate project", async () => {
      const project = join(folder, "project");
      await mkdir(project);
      await npm(["install", tarball("client")], project, env);
      const script = 'const { Atoll } = await import("@atoll/client"); console.log(typeof Atoll)';
      const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: project, env });
      expect(stdout.trim()).toBe("function");
    });
  });

  describe("Debian packages and images", () => {
    const root = join(folder, "debian");
    beforeAll(async () => {
      await Promise.all([
        npm(["run", "packages:debian", "--", "--installed", join(folder, "home", ".local")], clone, { ...process.env }),
        makeDebianRoot(root),
      ]);
    }, 900_000);

    // This test runs first, because the others change the Debian root. It takes two minutes next to other tests.
    it.runIf(HAS_EVERY_ROUND)(
      "images run read-only and unprivileged, are healthy, and complete a chat",
      async () => {
        const engine = await startTestEngine();
        await using _engine = { [Symbol.asyncDispose]: () => engine.stop() };
        await importImage(root, engine.host, "atoll/debian:test");
        const docker = async (...words: string[]): Promise<string> =>
          (
            await run("docker", ["--host", engine.host, ...words], { env: { ...process.env, DOCKER_BUILDKIT: "0" } })
          ).stdout.trim();
        const images = { "atoll-coordinator": "Dockerfile", "atoll-island": "Dockerfile.island" };
        for (const [image, file] of Object.entries(images)) {
          const base = ["--network", "none", "--build-arg", "BASE=atoll/debian:test"];
          const from = ["--file", join(clone, "deploy", file), "--tag", image, join(clone, "dist", "deb")];
          await docker("build", ...base, ...from);
        }
        const locked = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"];
        const data = ["--volume", "atoll:/var/lib/atoll"];
        await docker(
          "run",
          "--detach",
          "--name",
          "coordinator",
          ...locked,
          ...data,
          "--network",
          "none",
          "atoll-coordinator",
        );
        const becomesHealthy = (name: string): Promise<string> =>
          until(
            () => docker("inspect", "--format", "{{.State.Health.Status}}", name),
            (health) => health === "healthy",
            `${name} is healthy`,
          );
        await becomesHealthy("coordinator");
        expect(await docker("exec", "coordinator", "id", "--user")).toBe("10001");
        await expect(docker("exec", "coordinator", "touch", "/x")).rejects.toThrow("Read-only file system");
        const words = [
          "--email",
          "ann@example.com",
          "--password",
          "correct horse",
          "--with-key",
          "--with-island-token",
        ];
        const account = await docker(
          "exec",
          "coordinator",
          "atoll-coordinator",
          "account",
          "create",
          ...words,
          "--json",
        );
        const { key, island_token: token } = JSON.parse(account) as Record<string, string>;
        const island = [...locked, "--volume", "island:/var/lib/atoll-island", "--network", "container:coordinator"];
        const secret = ["--env", `ISLAND_COORDINATOR_TOKEN=${token}`];
        await docker("run", "--rm", ...island, ...secret, "atoll-island", "join", "http://127.0.0.1:8080");
        await docker("run", "--detach", "--name", "island", ...island, "atoll-island");
        const script = `const response = await fetch("http://127.0.0.1:8080/v1/chat/completions", { method: "POST",
        headers: { Authorization: "Bearer ${key}", "Content-Type": "application/json" },
        body: ${JSON.stringify(JSON.stringify({ model: "tiny-chat", ...QUESTION }))} });
        console.log((await response.json()).choices[0].message.content);`;
        expect(await docker("exec", "coordinator", "node", "--input-type=module", "--eval", script)).toBe(ANSWER);
        await becomesHealthy("island");
      },
      600_000,
    );

    it("atoll-coordinator installs, creates a network as its own user, and leaves no files after a purge", async () => {
      await installInside(root, deb("coordinator"));
      const init = "ATOLL_PASSWORD='correct horse' atoll-coordinator init --email ann@example.com --json";
      const made = await runInside(root, init);
      expect(made).toContain('"next":"atoll-coordinator serve"');
      const owner = await runInside(
        root,
        "stat --format %U:%a /var/lib/atoll /var/lib/atoll/atoll.toml /var/lib/atoll/data",
      );
      expect(owner.trim().split("\n")).toEqual(["atoll:700", "atoll:600", "atoll:700"]);
      expect(await runInside(root, "atoll-coordinator ledger verify")).toMatch(/balance/i);
      await runInside(root, "dpkg --purge atoll-coordinator");
      const left = ["var/lib/atoll", "usr/lib/atoll-coordinator", "etc/default/atoll-coordinator"];
      expect(left.filter((path) => existsSync(join(root, path)))).toEqual([]);
    }, 300_000);

    it("atoll-island installs and reports its runtimes without a coordinator", async () => {
      await installInside(root, deb("island"));
      expect(await runInside(root, "island doctor --json")).toContain('"type":"llmcpp","probe":{"usable":true');
      expect((await stat(join(root, "var/lib/atoll-island"))).uid).not.toBe(0);
      await runInside(root, "dpkg --purge atoll-island");
    }, 300_000);
  });
});
