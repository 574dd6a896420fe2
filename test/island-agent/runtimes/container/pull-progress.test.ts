import { describe, expect, it } from "vitest";
import { PullProgress } from "../../../../island-agent/runtimes/container/pull-progress.ts";

function after(reports: readonly object[]): PullProgress {
  const progress = new PullProgress();
  for (const report of reports) progress.take(JSON.stringify(report));
  return progress;
}
const layer = (id: string): object => ({ status: "Pulling fs layer", progressDetail: {}, id });
const downloading = (id: string, current: number, total?: number): object => ({
  ...{ status: "Downloading", progressDetail: { current, ...(total === undefined ? {} : { total }) }, id },
});

describe("PullProgress", () => {
  it("sums the layers, and returns no total before all sizes are known", () => {
    const begun = [{ status: "Pulling from library/x", id: "1.2" }, layer("a"), layer("b"), downloading("a", 10, 100)];
    expect(after(begun).bytes).toEqual({ receivedBytes: 10, totalBytes: null });
    expect(after([...begun, downloading("b", 5, 50)]).bytes).toEqual({ receivedBytes: 15, totalBytes: 150 });
  });

  it("counts a complete layer as received, even if its size was never reported", () => {
    const reports = [layer("a"), layer("b"), downloading("a", 10, 100), downloading("b", 7)];
    const done = [
      { status: "Download complete", id: "a" },
      { status: "Pull complete", id: "b" },
    ];
    expect(after([...reports, ...done]).bytes).toEqual({ receivedBytes: 107, totalBytes: 107 });
  });

  it("does not count present layers, or the unpacking of received ones", () => {
    const reports = [
      { status: "Already exists", progressDetail: {}, id: "old" },
      layer("a"),
      downloading("a", 100, 100),
      { status: "Extracting", progressDetail: { current: 5, total: 300 }, id: "a" },
    ];
    expect(after(reports).bytes).toEqual({ receivedBytes: 100, totalBytes: 100 });
  });

  it("keeps the first fault", () => {
    const reports = [{ errorDetail: { message: "no space left" }, error: "no space left" }, { error: "and more" }];
    expect(after(reports).fault).toBe("no space left");
    expect(after([]).fault).toBeNull();
  });

  it("skips lines that are not a report", () => {
    const progress = new PullProgress();
    for (const line of ["", "nonsense", "null", "7", '{"id":5}', '{"progressDetail":{"current":"x"},"id":"a"}']) {
      progress.take(line);
    }
    expect(progress.bytes).toEqual({ receivedBytes: 0, totalBytes: null });
    expect(progress.fault).toBeNull();
  });
});
