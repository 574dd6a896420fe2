import type { Migration } from "../migrate.ts";
import { initial } from "./001-initial.ts";

/** Every migration in its order. Append only. */
export const MIGRATIONS: readonly Migration[] = [{ version: 1, name: "initial", sql: initial }];
