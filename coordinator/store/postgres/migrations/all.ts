import type { Migration } from "../../migrations.ts";
import { initial } from "./001-initial.ts";
import { credentialEnds } from "./002-credential-ends.ts";
import { hosts } from "./003-hosts.ts";
import { keyLimits } from "./004-key-limits.ts";
import { operators } from "./005-operators.ts";
import { files } from "./006-files.ts";
import { uploads } from "./007-uploads.ts";
import { fileBatches } from "./008-file-batches.ts";
import { pricesAndNotes } from "./009-prices-and-notes.ts";
import { ignoredParameters } from "./010-ignored-parameters.ts";
import { cargoDates } from "./011-cargo-dates.ts";
import { noUploads } from "./012-no-uploads.ts";

/** In order. A released migration is never edited. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "initial", sql: initial },
  { version: 2, name: "credential ends", sql: credentialEnds, oldest: 1 },
  { version: 3, name: "hosts", sql: hosts, oldest: 1 },
  { version: 4, name: "key limits", sql: keyLimits, oldest: 1 },
  { version: 5, name: "operators", sql: operators, oldest: 1 },
  { version: 6, name: "files", sql: files, oldest: 1 },
  { version: 7, name: "uploads", sql: uploads, oldest: 1 },
  { version: 8, name: "file batches", sql: fileBatches, oldest: 1 },
  { version: 9, name: "prices and notes", sql: pricesAndNotes, oldest: 1 },
  { version: 10, name: "ignored parameters", sql: ignoredParameters, oldest: 1 },
  { version: 11, name: "cargo dates", sql: cargoDates, oldest: 1 },
  { version: 12, name: "no uploads", sql: noUploads },
];
