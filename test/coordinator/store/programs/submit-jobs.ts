/**
 * A program that writes to a store. `submit-jobs.ts <database> <accountId> <count>` submits `count` jobs ("Infinity"
 * for as long as it runs), 32 at a time, and prints the id of each acknowledged job.
 */
import { openSqliteStore } from "../../../../coordinator/store/sqlite/sqlite-store.ts";
import { systemClock } from "../../../../shared/clock.ts";
import { makeJob } from "../contract/store-builders.ts";

const [path = "", accountId = "", count = "0"] = process.argv.slice(2);
const store = await openSqliteStore({ path, clock: systemClock });
let left = Number(count);
async function submitInTurn(): Promise<void> {
  while (left-- > 0) {
    const { job } = await store.jobs.submit(makeJob(accountId, { priceMicro: 1 }));
    process.stdout.write(`${job.id}\n`);
  }
}
await Promise.all(Array.from({ length: 32 }, submitInTurn));
await store.close();
