import { describe, expect, it } from "vitest";
import { DownloadPriority } from "../../../island-agent/artifacts/download-priority.ts";
import { settle } from "../../support/event-log.ts";

const NEVER = new AbortController().signal;

/** A download that counts its starts, and ends on request or when aborted. */
function makeDownload() {
  const end = Promise.withResolvers<string>();
  const download = { begun: 0, end: end.resolve, fail: end.reject, run };
  async function run(signal: AbortSignal = NEVER): Promise<string> {
    download.begun += 1;
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => aborted.reject(signal.reason as Error), { once: true });
    return Promise.race([end.promise, aborted.promise]);
  }
  return download;
}

describe("DownloadPriority", () => {
  it("interrupts a background download while jobs download, and restarts it after the last one", async () => {
    const priority = new DownloadPriority();
    const [idle, first, second] = [makeDownload(), makeDownload(), makeDownload()];
    const preloading = priority.runWhenIdle((signal) => idle.run(signal), NEVER);
    await settle();
    const jobs = [priority.runForJob(() => first.run()), priority.runForJob(() => second.run())];
    await settle();
    first.end("one");
    await settle();
    expect([idle.begun, first.begun, second.begun]).toEqual([1, 1, 1]);
    second.end("two");
    await settle();
    expect(idle.begun).toBe(2);
    idle.end("three");
    expect(await Promise.all([...jobs, preloading])).toEqual(["one", "two", "three"]);
  });

  it("does not start a background download while a job downloads", async () => {
    const priority = new DownloadPriority();
    const [idle, job] = [makeDownload(), makeDownload()];
    const waited = priority.runForJob(() => job.run());
    const preloading = priority.runWhenIdle((signal) => idle.run(signal), NEVER);
    await settle();
    expect(idle.begun).toBe(0);
    job.fail(new Error("broken"));
    await expect(waited).rejects.toThrow("broken");
    idle.end("done");
    expect(await preloading).toBe("done");
  });

  it("stops when its caller aborts or the download fails", async () => {
    const priority = new DownloadPriority();
    const [idle, broken] = [makeDownload(), makeDownload()];
    const leaver = new AbortController();
    const preloading = priority.runWhenIdle((signal) => idle.run(signal), leaver.signal);
    leaver.abort(new Error("enough"));
    await expect(preloading).rejects.toThrow("enough");
    const failing = priority.runWhenIdle((signal) => broken.run(signal), NEVER);
    broken.fail(new Error("404"));
    await expect(failing).rejects.toThrow("404");
  });
});
