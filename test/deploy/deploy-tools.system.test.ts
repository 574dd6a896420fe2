import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../coordinator/store/contract/store-builders.ts";
import { requireDebian } from "../support/servers/require-debian.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const fileAt = (path: string): string => readFileSync(join(ROOT, path), "utf8");
/** Path of the repository on the operator's machine. */
const INSTALLED = "/opt/atoll";
const SECRETS = { ATOLL_DOMAIN: "atoll.example", POSTGRES_PASSWORD: "secret", NATS_TOKEN: "token" };

const run = (command: readonly string[], cwd = ROOT, env: object = {}): { code: number | null; text: string } => {
  const [program = "", ...args] = command;
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  return { code: status, text: `${stdout ?? ""}${stderr ?? ""}` };
};
requireDebian("docker-compose", "docker-compose");
requireDebian("systemd-analyze", "systemd");
/** Command of Compose on this machine, which is the plugin of Docker or Debian's program. */
const compose = run(["docker", "compose", "version"]).code === 0 ? ["docker", "compose"] : ["docker-compose"];

describe("deploy/", () => {
  it("compose.yaml is valid for Docker Compose, which requires the secrets", () => {
    using folder = temporaryFolder();
    // Version 1 (Debian 12) does not support `name`.
    const isFirst = /version v?1\./.test(run([...compose, "version"]).text);
    const text = fileAt("deploy/compose.yaml");
    mkdirSync(folder.file("deploy"));
    // This folder must exist, as after `npm run packages:debian`.
    mkdirSync(folder.file("dist/deb"), { recursive: true });
    const file = folder.file("deploy/compose.yaml");
    writeFileSync(file, isFirst ? text.replace(/^name: .*$/m, "") : text);
    const config = (env: object) => run([...compose, "-f", file, "config"], dirname(file), env);
    const taken = config(SECRETS);
    expect(taken).toMatchObject({ code: 0 });
    expect(taken.text).toContain("postgres://atoll:secret@postgres:5432/atoll");
    const refused = config({ ...SECRETS, NATS_TOKEN: "" });
    expect(refused.code).not.toBe(0);
    expect(refused.text).toContain("see deploy/README.md");
  });

  it("single/compose.yaml is valid for Docker Compose without changes", () => {
    using folder = temporaryFolder();
    const isFirst = /version v?1\./.test(run([...compose, "version"]).text);
    const text = fileAt("deploy/single/compose.yaml");
    for (const path of ["deploy/single", "dist/deb"]) mkdirSync(folder.file(path), { recursive: true });
    const file = folder.file("deploy/single/compose.yaml");
    writeFileSync(file, isFirst ? text.replace(/^name: .*$/m, "") : text);
    const taken = run([...compose, "-f", file, "config"], dirname(file));
    expect(taken).toMatchObject({ code: 0 });
    expect(taken.text).toContain("127.0.0.1:8080");
  });

  it.each(["atoll-coordinator", "atoll-island"])("%s.service is valid, with an exposure level below 3.0", (name) => {
    using folder = temporaryFolder();
    const file = folder.file(`${name}.service`);
    const unit = fileAt(`deploy/debian/${name}/${name}.service`);
    writeFileSync(file, unit.replaceAll(`/usr/lib/${name}/bin/node`, process.execPath));
    // The manual page is missing if the package is not installed.
    expect(run(["systemd-analyze", "verify", "--man=no", file])).toEqual({ code: 0, text: "" });
    expect(run(["systemd-analyze", "security", "--offline=true", "--threshold=29", file]).code).toBe(0);
    writeFileSync(file, unit.replaceAll(/^(Protect|Private|Capability).*$/gm, ""));
    expect(run(["systemd-analyze", "security", "--offline=true", "--threshold=29", file]).code).toBe(1);
  });

  it("atoll@.service and atoll.service are valid for systemd", () => {
    using folder = temporaryFolder();
    const units = {
      "atoll@8080.service": fileAt("deploy/systemd/atoll@.service"),
      "atoll.service": fileAt("deploy/systemd/atoll.service"),
    };
    for (const [name, unit] of Object.entries(units)) {
      expect(unit).toContain(`WorkingDirectory=${INSTALLED}`);
      const file = folder.file(name);
      writeFileSync(file, unit.replaceAll(INSTALLED, ROOT));
      expect(run(["systemd-analyze", "verify", file])).toEqual({ code: 0, text: "" });
      writeFileSync(file, unit.replaceAll(INSTALLED, ROOT).replace("ProtectClock=true", "ProtectClok=true"));
      expect(run(["systemd-analyze", "verify", file]).text).toContain("ProtectClok");
    }
  });
});
