import { beforeEach, describe, expect, it } from "vitest";
import { describeDownload } from "../../../island-agent/artifacts/describe-download.ts";
import { openDownloadWatch, type DownloadWatch } from "../../../island-agent/artifacts/download-watch.ts";
import type { DownloadProgress } from "../../../island-agent/models/download/transfer.ts";
import { GIB, KIB, MIB } from "../../../shared/format-bytes.ts";
import { settle } from "../../support/event-log.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FakeLog } from "../builders.ts";

let clock: ManualClock;
let log: FakeLog;
let watch: DownloadWatch;
let note: (receivedBytes: number, totalBytes?: number | null, isFromDisk?: boolean) => void;
let end: PromiseWithResolvers<void>;
let ended: Promise<void>;

beforeEach(() => {
  clock = new ManualClock();
  log = new FakeLog();
  watch = openDownloadWatch(clock, log);
  end = Promise.withResolvers();
  ended = watch.follow("big", (report: (progress: DownloadProgress) => void) => {
    note = (receivedBytes, totalBytes = 202 * MIB, isFromDisk = false) =>
      report({ receivedBytes, totalBytes, isFromDisk });
    return end.promise;
  });
});

/** Receives 4 MiB per second for a time, in pieces of a quarter of a second. Returns the number of received bytes. */
function receive(seconds: number, fromBytes = 0): number {
  let bytes = fromBytes;
  for (let step = 0; step < seconds * 4; step += 1) {
    clock.advance(250);
    bytes += MIB;
    note(bytes);
  }
  return bytes;
}

describe("DownloadWatch", () => {
  it("measures the speed of the last seconds, after at least half a second", () => {
    expect(watch.bytesPerSecond("big")).toBeNull();
    note(0);
    clock.advance(250);
    expect(watch.bytesPerSecond("big")).toBeNull();
    receive(20);
    expect(watch.bytesPerSecond("big")).toBeCloseTo(4 * MIB, -6);
    expect(watch.bytesPerSecond("other")).toBeNull();
  });

  it("measures 0 bytes per second when no byte has arrived in that time", () => {
    note(0);
    receive(20);
    clock.advance(5_000);
    expect(watch.bytesPerSecond("big")).toBeLessThan(3 * MIB);
    clock.advance(10_000);
    expect(watch.bytesPerSecond("big")).toBe(0);
  });

  it("restarts the measurement when a download restarts", () => {
    note(0);
    receive(5);
    note(0);
    clock.advance(1_000);
    note(MIB);
    expect(watch.bytesPerSecond("big")).toBe(MIB);
  });

  it("excludes bytes that were on disk before from speed and log", () => {
    for (const read of [1, 60, 118]) note(read * MIB, 202 * MIB, true);
    expect(log.events.all).toEqual([]);
    note(118 * MIB);
    expect(log.facts).toEqual([{ cargo: "big", progress: "118 of 202 MiB" }]);
    receive(5, 118 * MIB);
    expect(watch.bytesPerSecond("big")).toBe(4 * MIB);
  });

  it("forgets a download that has ended", async () => {
    note(0);
    receive(5);
    end.resolve();
    await ended;
    expect(watch.bytesPerSecond("big")).toBeNull();
  });

  it("logs the start, each 10 % after ten seconds, and the end", async () => {
    note(0);
    receive(50, 0);
    end.resolve();
    await ended;
    expect(log.events.all).toEqual([
      "info Download started",
      ...Array.from({ length: 5 }, () => "info Downloading"),
      "info Downloaded",
    ]);
    expect(log.facts.slice(0, 2)).toEqual([
      { cargo: "big", progress: "0 of 202 MiB" },
      { cargo: "big", progress: "40 of 202 MiB, 4.0 MiB/s, 41 s left" },
    ]);
    expect(log.facts.at(-1)).toEqual({ cargo: "big", size: "200.0 MiB", took: "50 s" });
  });

  it("logs the reason and progress of an interrupted download", async () => {
    note(0);
    receive(2);
    end.reject(new Error("no job waits for the Cargo"));
    await ended.catch(() => undefined);
    expect(log.facts.at(-1)).toEqual({
      cargo: "big",
      progress: "8 of 202 MiB, 4.0 MiB/s, 49 s left",
      reason: "no job waits for the Cargo",
    });
  });

  it("logs nothing for files that were on disk", async () => {
    note(202 * MIB);
    end.resolve();
    await settle();
    expect(log.events.all).toEqual([]);
  });
});

describe("describeDownload()", () => {
  it.each<[string, Parameters<typeof describeDownload>[0], string]>([
    ["nothing", {}, ""],
    ["no size", { receivedBytes: 5 * MIB, totalBytes: null, bytesPerSecond: null }, "5.0 MiB"],
    ["a size below 10 MiB", { receivedBytes: 100 * KIB, totalBytes: 2 * MIB }, "100 KiB of 2.0 MiB"],
    [
      "a size in GiB",
      { receivedBytes: GIB / 2, totalBytes: 4 * GIB, bytesPerSecond: MIB },
      "0.5 of 4.0 GiB, 1.0 MiB/s, 59 min left",
    ],
    ["a stop", { receivedBytes: 20 * MIB, totalBytes: 40 * MIB, bytesPerSecond: 0 }, "20 of 40 MiB, 0 KiB/s"],
  ])("describes the known metrics of %s", (_title, progress, text) => {
    expect(describeDownload(progress)).toBe(text);
  });
});
