import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { printService } from "../../../island-agent/cli/service-commands.ts";
import { requireDebian } from "../../support/servers/require-debian.ts";

const SYSTEMD_ANALYZE = requireDebian("systemd-analyze", "systemd");

it("printService() returns a valid unit, with an exposure of at most 60 for systemd-analyze", async () => {
  const home = await mkdtemp(join(tmpdir(), "atoll-service-"));
  const file = join(home, "atoll-island.service");
  const unit = printService({
    platform: "linux",
    home,
    command: [process.execPath, "start"],
    dataDirectory: join(home, "data"),
    systemUser: "daemon",
    run: () => expect.unreachable(),
  });
  await writeFile(file, unit);
  const verified = spawnSync(SYSTEMD_ANALYZE, ["verify", "--man=no", file], { encoding: "utf8" });
  expect(verified.stderr).not.toContain("atoll-island");
  // The exposure ranges from 0 (safe) to 100 (all rights). A service that drops no rights has an exposure of 95.
  const args = ["security", "--offline=true", "--threshold=60", file];
  expect(spawnSync(SYSTEMD_ANALYZE, args, { encoding: "utf8" })).toMatchObject({ status: 0 });
  await rm(home, { recursive: true, force: true });
});
