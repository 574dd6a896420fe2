import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { pino } from "pino";
import { resolveConfig, type CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import { openCoordinator } from "../../../coordinator/coordinator.ts";
import { openAttemptTokens } from "../../../coordinator/dispatch/attempt-tokens.ts";
import { fileSecrets } from "../../../coordinator/store/secrets/file-secrets.ts";
import { lockForServing } from "../../../coordinator/store/sqlite/engine/serve-lock.ts";
import { openSqliteStore } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import { retryWhileReadOnly } from "../../../coordinator/store/retry-while-unavailable.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { smallCatalog } from "../../support/small-catalog.ts";
import { CAN_MOUNT, SmallDisk } from "../../support/small-disk.ts";
import { temporaryFolder } from "./contract/store-builders.ts";

const ROOM_BYTES = 8 * 2 ** 20;

function configOf(disk: SmallDisk, minFreeDiskBytes: number): CoordinatorConfig {
  const flags = { port: 0, dataDirectory: disk.path };
  return {
    ...resolveConfig({ flags, env: {}, toml: null, shippedCatalogDirectory: smallCatalog() }),
    minFreeDiskBytes,
  };
}

/** A log whose lines the test reads. */
function keptLog() {
  const lines: string[] = [];
  return { lines, log: pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) }) };
}

it.skipIf(!CAN_MOUNT)(
  "openCoordinator() waits on a full disk, logs the reason, and serves once there is space",
  async () => {
    using disk = new SmallDisk(ROOM_BYTES);
    disk.fill();
    const { lines, log } = keptLog();
    const opening = openCoordinator({
      config: configOf(disk, 1),
      clock: systemClock,
      log,
      version: "0.0.0-test",
      onFatal: (error) => lines.push(String(error)),
    });
    await expect.poll(() => lines[0]).toMatch(/ENOSPC.*Waiting until storage/);
    disk.free();
    const coordinator = await opening;
    expect(lines.filter((line) => line.includes("Waiting until storage"))).toHaveLength(1);
    expect((await fetch(`${coordinator.url}/api/v1/health`)).status).toBe(200);
    await coordinator.close();
  },
);

it.skipIf(!CAN_MOUNT)("openCoordinator() serves read-only with less free space than it must leave", async () => {
  using disk = new SmallDisk(ROOM_BYTES);
  const { log } = keptLog();
  const open = (minFreeDiskBytes: number) =>
    openCoordinator({
      config: configOf(disk, minFreeDiskBytes),
      clock: systemClock,
      log,
      version: "0.0.0-test",
      onFatal: () => undefined,
    });
  await (await open(1)).close();
  const coordinator = await open(2 * ROOM_BYTES);
  expect((await fetch(`${coordinator.url}/api/v1/health`)).status).toBe(503);
  await coordinator.close();
});

it.skipIf(!CAN_MOUNT)("retryWhileReadOnly() repairs a key file that a full disk truncated", async () => {
  using disk = new SmallDisk(ROOM_BYTES);
  disk.fill();
  const { lines, log } = keptLog();
  const clock = new ManualClock();
  const opening = retryWhileReadOnly(() => openAttemptTokens(fileSecrets(disk.path)), { clock, log });
  await expect.poll(() => clock.pendingTimers).toBe(1);
  disk.free();
  clock.advance(1_000);
  const token = (await opening).issue("job_1", 1, "island_1");
  expect((await openAttemptTokens(fileSecrets(disk.path))).issue("job_1", 1, "island_1")).toBe(token);
  expect(lines).toEqual([
    expect.stringContaining("Waiting until storage"),
    expect.stringContaining("continuing the start"),
  ]);
});

it.skipIf(!CAN_MOUNT)("lockForServing() needs no disk space", () => {
  using disk = new SmallDisk(ROOM_BYTES);
  lockForServing(disk.path).release();
  disk.fill();
  const lock = lockForServing(disk.path);
  expect(() => lockForServing(disk.path)).toThrow(/another coordinator/);
  lock.release();
});

it("openCoordinator() waits while another process has the write lock of the database", async () => {
  using folder = temporaryFolder();
  const other = new Database(folder.file("atoll.db"));
  other.exec("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE");
  const { lines, log } = keptLog();
  const clock = new ManualClock();
  const opening = retryWhileReadOnly(() => openSqliteStore({ path: folder.file("atoll.db"), clock }), { clock, log });
  await expect.poll(() => lines[0], { timeout: 20_000 }).toMatch(/another process is writing.*Waiting until storage/);
  other.exec("COMMIT");
  other.close();
  clock.advance(1_000);
  await (await opening).close();
});

it("retryWhileReadOnly() does not wait for a permanent fault", async () => {
  const { lines, log } = keptLog();
  const fault = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
  const opening = retryWhileReadOnly(() => Promise.reject(fault), { clock: new ManualClock(), log });
  await expect(opening).rejects.toBe(fault);
  expect(lines).toEqual([]);
});
