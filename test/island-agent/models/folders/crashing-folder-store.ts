/** A process of a test. It downloads a folder until `bytes` are on disk, reports that, and waits to be killed. */
import { join } from "node:path";
import { cargoManifestSchema } from "../../../../shared/cargo.ts";
import { systemClock } from "../../../../shared/clock.ts";
import { resolveFetchPolicy } from "../../../../island-agent/models/download/fetch-policy.ts";
import { FolderStore } from "../../../../island-agent/models/folders/folder-store.ts";
import { ModelStore } from "../../../../island-agent/models/store/model-store.ts";

const [directory = "", url = "", manifest = "", bytes = ""] = process.argv.slice(2);
const fetch = { coordinatorUrl: url, hubEndpoint: url };
const models = await ModelStore.open({ directory, budgetBytes: 1e9, minFreeBytes: 0, clock: systemClock, fetch });
const context = { policy: resolveFetchPolicy(fetch), clock: systemClock };
const folders = await FolderStore.open({ models, directory: join(directory, "folders"), context });
const cargo = cargoManifestSchema.parse(JSON.parse(manifest));
await folders.acquire(cargo, new AbortController().signal, ({ receivedBytes }) => {
  // The small files are complete, and the last one is in progress.
  if (models.list().length === 2 && receivedBytes >= Number(bytes)) process.stdout.write("ready\n");
});
