/** A separate process of a test. It downloads until `bytes` are on disk, reports that, and waits to be killed. */
import { modelRefSchema } from "../../../../shared/cargo.ts";
import { systemClock } from "../../../../shared/clock.ts";
import { ModelStore } from "../../../../island-agent/models/store/model-store.ts";

const [directory = "", coordinatorUrl = "", ref = "", bytes = ""] = process.argv.slice(2);
const store = await ModelStore.open({
  directory,
  budgetBytes: 1e9,
  minFreeBytes: 0,
  clock: systemClock,
  fetch: { coordinatorUrl },
});
await store.acquire("x", modelRefSchema.parse(JSON.parse(ref)), new AbortController().signal, ({ receivedBytes }) => {
  if (receivedBytes === Number(bytes)) process.stdout.write("ready\n");
});
