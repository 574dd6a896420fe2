import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { downloadModel, type Download } from "../../../../island-agent/models/download/download.ts";
import { resolveFetchPolicy, type FetchOptions } from "../../../../island-agent/models/download/fetch-policy.ts";
import { parseModelSource } from "../../../../island-agent/models/download/model-source.ts";
import type { PartFile } from "../../../../island-agent/models/download/part-file.ts";
import { makeBytes } from "../file-server.ts";
import { NEVER, type StoreFixture } from "../store-fixture.ts";

export const BYTES = makeBytes(200_000);
export const PATH = "/models/a.gguf";

/** Downloads `url` into the fixture's directory, with the given `expected` and options. */
export function runDownload(
  fixture: StoreFixture,
  options: {
    url?: string;
    expected?: Partial<Download["expected"]>;
    fetch?: FetchOptions;
    signal?: AbortSignal;
  } & Pick<Partial<Download>, "reserve" | "onProgress"> = {},
  openPart?: (stem: string, key: string, signal: AbortSignal) => Promise<PartFile>,
): Promise<number> {
  const url = fixture.server.url;
  const policy = resolveFetchPolicy({ coordinatorUrl: url, hubEndpoint: url, stallMs: 20_000, ...options.fetch });
  const download: Download = {
    key: "k",
    source: parseModelSource(options.url ?? PATH, policy),
    expected: { sha256: null, bytes: null, ...options.expected },
    directory: fixture.directory,
    stem: "stem",
    fileName: "done.gguf",
    reserve: options.reserve ?? (() => Promise.resolve()),
    onProgress: options.onProgress ?? (() => undefined),
  };
  return downloadModel(download, { policy, clock: fixture.clock }, options.signal ?? NEVER, openPart);
}

/** Returns the finished file. */
export const done = (fixture: StoreFixture): Promise<Buffer> => readFile(join(fixture.directory, "done.gguf"));
