import { afterAll } from "vitest";
import { openSqliteStore } from "../../../../coordinator/store/sqlite/sqlite-store.ts";
import { describeStore } from "../contract/store.contract.ts";
import { temporaryFolder } from "../contract/store-builders.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
let opened = 0;
describeStore("sqlite", (clock) => openSqliteStore({ path: folder.file(`${++opened}.db`), clock }));
