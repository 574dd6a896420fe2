import type { ModelLease } from "../../../../island-agent/models/store/model-files.ts";
import type { ModelStore } from "../../../../island-agent/models/store/model-store.ts";
import { file, makeBytes, sha256 } from "../file-server.ts";
import { makeRef, NEVER, type StoreFixture } from "../store-fixture.ts";

export const BYTES = makeBytes(200_000);

/** Serves `bytes` at /models/<name>.gguf and returns its reference. */
export function serve(fixture: StoreFixture, name: string, bytes: Buffer): ReturnType<typeof makeRef> {
  const url = `/models/${name}.gguf`;
  fixture.server.on(url, file(bytes));
  return makeRef({ url, sha256: sha256(bytes), sizeBytes: bytes.length });
}

/** Downloads a model and releases it. */
export async function pull(store: ModelStore, ref: ReturnType<typeof makeRef>): Promise<ModelLease> {
  const lease = await store.acquire("cargo", ref, NEVER);
  lease.release();
  return lease;
}

export const keysOf = (store: ModelStore): string[] => store.list().map(({ key }) => key);
