import type { Migration } from "../../migrations.ts";
import { initial } from "./001-initial.ts";
import { hosts } from "./002-hosts.ts";

/** In order. A released migration is never edited. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "initial", sql: initial },
  { version: 2, name: "hosts", sql: hosts, oldest: 1 },
];
