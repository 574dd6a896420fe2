import { migrationsOf } from "../schema.ts";
import { POSTGRES_BASELINE } from "./baseline.ts";

export const MIGRATIONS = migrationsOf("postgres", POSTGRES_BASELINE);
