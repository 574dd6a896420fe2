import { migrationsOf } from "../schema.ts";
import { SQLITE_BASELINE } from "./baseline.ts";

export const MIGRATIONS = migrationsOf("sqlite", SQLITE_BASELINE);
