import type { Migration } from "../../migrations.ts";
import { initial } from "./001-initial.ts";
import { quotas } from "./002-quotas.ts";
import { cargos } from "./003-cargos.ts";
import { conversations } from "./004-conversations.ts";
import { batchesAndWebhooks } from "./005-batches-and-webhooks.ts";
import { credentialCaps } from "./006-credential-caps.ts";
import { boundedLists } from "./007-bounded-lists.ts";
import { foldedFeeds } from "./008-folded-feeds.ts";
import { removal } from "./009-removal.ts";
import { fairShare } from "./010-fair-share.ts";
import { clientBoundJobs } from "./011-client-bound-jobs.ts";
import { hostsSignUpsSecrets } from "./012-hosts-sign-ups-secrets.ts";
import { cargoApprovals } from "./013-cargo-approvals.ts";
import { leanWrites } from "./014-lean-writes.ts";
import { credentialsRevision } from "./015-credentials-revision.ts";
import { lateLists } from "./016-late-lists.ts";
import { hosts } from "./017-hosts.ts";
import { keyLimits } from "./018-key-limits.ts";
import { operators } from "./019-operators.ts";
import { files } from "./020-files.ts";
import { uploads } from "./021-uploads.ts";
import { fileBatches } from "./022-file-batches.ts";
import { pricesAndNotes } from "./023-prices-and-notes.ts";
import { ignoredParameters } from "./024-ignored-parameters.ts";
import { cargoDates } from "./025-cargo-dates.ts";
import { noUploads } from "./026-no-uploads.ts";

/** All migrations in order. Append only. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "initial", sql: initial },
  { version: 2, name: "quotas", sql: quotas },
  { version: 3, name: "cargos", sql: cargos },
  { version: 4, name: "conversations", sql: conversations },
  { version: 5, name: "batches and webhooks", sql: batchesAndWebhooks },
  { version: 6, name: "credential caps", sql: credentialCaps },
  { version: 7, name: "bounded lists", sql: boundedLists },
  { version: 8, name: "folded feeds", sql: foldedFeeds },
  { version: 9, name: "removal", sql: removal },
  { version: 10, name: "fair share", sql: fairShare },
  { version: 11, name: "client-bound jobs", sql: clientBoundJobs },
  { version: 12, name: "hosts, sign-ups, secrets", sql: hostsSignUpsSecrets },
  { version: 13, name: "cargo approvals", sql: cargoApprovals },
  { version: 14, name: "lean writes", sql: leanWrites },
  { version: 15, name: "credentials revision", sql: credentialsRevision },
  { version: 16, name: "late lists", sql: lateLists },
  { version: 17, name: "hosts", sql: hosts },
  { version: 18, name: "key limits", sql: keyLimits },
  { version: 19, name: "operators", sql: operators },
  { version: 20, name: "files", sql: files },
  { version: 21, name: "uploads", sql: uploads },
  { version: 22, name: "file batches", sql: fileBatches },
  { version: 23, name: "prices and notes", sql: pricesAndNotes },
  { version: 24, name: "ignored parameters", sql: ignoredParameters },
  { version: 25, name: "cargo dates", sql: cargoDates },
  { version: 26, name: "no uploads", sql: noUploads },
];
