import { readCargo } from "../../../coordinator/catalog/cargo-file.ts";
import { resolveConfig } from "../../../coordinator/config/resolve-config.ts";
import { remoteModels } from "../../../coordinator/operators/add-model.ts";
import { openAnnouncements } from "../../../coordinator/operators/announcements.ts";
import { auditTrail } from "../../../coordinator/operators/audit-trail.ts";
import { operatorAccounts } from "../../../coordinator/operators/operator-accounts.ts";
import { operatorAudits } from "../../../coordinator/operators/operator-audits.ts";
import { operatorCargos } from "../../../coordinator/operators/operator-cargos.ts";
import { operatorIslands } from "../../../coordinator/operators/operator-islands.ts";
import { operatorStandings } from "../../../coordinator/operators/operator-standings.ts";
import type { Operators } from "../../../coordinator/operators/operators.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import type { Clock } from "../../../shared/clock.ts";
import { CHAT_FILE } from "../catalog/cargo-builders.ts";

interface ApiOperatorsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly credentials: { changed(): void };
  /** Address of the model hub. */
  readonly hub: () => string;
}

const read = readCargo({ ...CHAT_FILE, slug: "shipped-chat" });
const SHIPPED = "file" in read ? [read.file] : [];

/** Opens the operators' services for a network without Islands and jobs, with one shipped Cargo. */
export function apiOperators({ store, clock, credentials, hub }: ApiOperatorsDeps): Operators {
  const trail = auditTrail(store.audit, clock);
  const onChanged = async (): Promise<void> => credentials.changed();
  const live = async () => ({ byId: new Map(), isComplete: true });
  const { inForce } = resolveConfig({
    flags: {},
    env: { ATOLL_METRICS_TOKEN: "very-secret" },
    toml: null,
    shippedCatalogDirectory: ".",
  });
  const cargos = operatorCargos(store.catalog, SHIPPED, trail, clock);
  const settings = {
    dataDirectory: "none",
    minFreeDiskBytes: 0,
    hubToken: null,
    get hubUrl() {
      return hub();
    },
  };
  return {
    network: {
      overview: async () => ({
        islands: { online: 0, known: 0 },
        slots: { free: 0, all: 0 },
        jobs: { running: 0, waiting: 0, finishedLastMinute: 0 },
        queue: [],
        tokensPerSecond: 0,
        firstTokenMs: { p50: null, p99: null },
        errorsLastMinute: 0,
        work: { promptTokens: 0, cachedTokens: 0, islands: [] },
        coordinators: [],
      }),
    },
    accounts: operatorAccounts(store, trail, clock, onChanged),
    islands: operatorIslands(store, trail, clock, onChanged, live),
    audits: operatorAudits(store, trail, { refusalOf: async () => null, resume: () => undefined }),
    standings: operatorStandings(store, trail, clock, () => true),
    jobs: store.operators,
    cargos,
    models: remoteModels(store, cargos, settings, clock),
    announcements: openAnnouncements(store, trail, clock),
    audit: store.audit,
    settings: inForce.map((each) => ({ ...each, flag: null, env: "", fallback: "", allowed: "", meaning: "" })),
  };
}
