import { dirname, join } from "node:path";
import { statfs } from "node:fs/promises";
import Database from "better-sqlite3";
import type { Clock, Timer } from "../../../shared/clock.ts";
import { formatMibRoundedDown } from "../../../shared/format-bytes.ts";
import { newId } from "../../../shared/ids.ts";
import { networkOfOne } from "../cluster-store.ts";
import { openCommon, pruneAtStart } from "../store.ts";
import { DatabaseError } from "../database-error.ts";
import { fileSecrets } from "../secrets/file-secrets.ts";
import { SecretBox } from "../secrets/secret-box.ts";
import { runBody, type RunStep } from "../steps/steps.ts";
import { readSqliteMark, refuseMoved } from "../move/move-mark.ts";
import { hasIncrementalVacuum, openForReading, openForWriting, prepareFile } from "./engine/connection.ts";
import { migrate } from "./engine/migrate.ts";
import { MIGRATIONS } from "./migrations.ts";
import { openReader } from "./engine/reader.ts";
import { prepareOnce, SqliteTx, type Prepare } from "./engine/sqlite-tx.ts";
import { startWriterThread, Writer } from "./engine/writer.ts";

export const WEBHOOK_KEY_FILE = "webhooks.key";
interface SqliteStoreOptions {
  /** Database file; its folder is created if missing. */
  readonly path: string;
  readonly clock: Clock;
  /** Called with the reason when the store becomes read-only, and with null when it is writable again. */
  readonly onReadOnly?: ((reason: string | null) => void) | undefined;
  /** Free bytes below which the store becomes read-only; if absent, it writes until the disk is full. */
  readonly minFreeBytes?: number | undefined;
}

/**
 * Opens the database, after creating or migrating it if needed.
 * @throws {MigrationError} if the database is newer than this program or its migrations were edited.
 * @throws {DatabaseError} if the file is not an SQLite database, is damaged or is not writable. File system errors are
 *   not converted.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { clock } = options;
  const file = prepareFile(options.path);
  const secrets = await SecretBox.open(join(dirname(file), WEBHOOK_KEY_FILE));
  migrateFile(file, clock.now(), secrets);
  return pruneAtStart(sqliteStore(file, secrets, options));
}

function migrateFile(file: string, nowMs: number, secrets: SecretBox): void {
  try {
    using stack = new DisposableStack();
    const db = stack.adopt(openForWriting(file), (opened) => opened.close());
    migrate(db, MIGRATIONS, nowMs);
    refuseMoved(file, readSqliteMark(db));
    sealSecretsInClear(db, secrets);
    // After a crash the log may have pages that a failed sync never wrote, so it is emptied before anything is added.
    // See docs/internals/reliability.md, "Failing disks".
    db.pragma("wal_checkpoint(PASSIVE)");
  } catch (cause) {
    if (!(cause instanceof Database.SqliteError)) throw cause;
    throw new DatabaseError(file, `cannot be used as the coordinator's database: ${cause.message}`, { cause });
  }
}

/** Encrypts secrets that earlier versions stored as plain text. An index contains only those, so this is fast. */
function sealSecretsInClear(db: Database.Database, secrets: Pick<SecretBox, "seal">): void {
  const select = db.prepare<[], { id: string; secret: string }>(
    "SELECT id, secret FROM webhooks WHERE secret GLOB 'whsec_*'",
  );
  const update = db.prepare<[string, string]>("UPDATE webhooks SET secret = ? WHERE id = ?");
  const sealAll = db.transaction(() => {
    for (const { id, secret } of select.all()) update.run(secrets.seal(secret), id);
  });
  if (select.get() !== undefined) sealAll.immediate();
}

export type SqliteStore = ReturnType<typeof sqliteStore>;

/** Opens the store on a migrated file. Writes and pages of long lists have their own threads; other reads run here. */
function sqliteStore(
  file: string,
  secrets: SecretBox,
  { clock, onReadOnly = () => {}, minFreeBytes }: Omit<SqliteStoreOptions, "path">,
) {
  const db = openForReading(file);
  const reader = openReader(file);
  const writer = new Writer(startWriterThread(file), clock, onReadOnly);
  const common = openCommon(
    sqliteSteps(prepareOnce(db), reader, writer),
    (_key, kind, args) => writer.run(kind, args),
    writer,
    secrets,
    clock,
  );
  const closeWatch =
    minFreeBytes === undefined
      ? null
      : watchDiskSpace(dirname(file), minFreeBytes, clock, (reason) => writer.setLowSpace(reason));
  const selectCount = db.prepare<[], number>("SELECT count FROM checks WHERE id = 1").pluck();
  let closed: Promise<void> | null = null;

  const close = async (): Promise<void> => {
    closeWatch?.();
    common.stop();
    await writer.drain();
    // Readers close first, because only the last connection to close checkpoints the WAL into the file, which only the
    // writer can.
    await reader.close();
    // Reads in progress finish in microtasks, before this macrotask.
    await new Promise(setImmediate);
    db.close();
    await writer.close();
  };

  return Object.assign(common.store, {
    name: "sqlite",
    cluster: networkOfOne(newId("coord", clock.now())),
    content: {
      ...common.store.content,
      canReclaim: hasIncrementalVacuum(db),
      reclaim: () => writer.run("reclaim", {}),
      truncateLog: () => writer.truncateLog(),
    },
    secrets: fileSecrets(dirname(file)),
    async check(): Promise<void> {
      const written = await writer.run("check", {});
      const read = selectCount.get();
      if (read === undefined || read < written) throw new Error(`The store read ${read} after writing ${written}`);
      common.assertPrunes();
    },
    /**
     * Closes the store. A second call returns the same promise, because its threads may by then serve another store.
     */
    close: (): Promise<void> => (closed ??= close()),
  });
}

const READ_EVERY_MS = 2_000;

/**
 * Measures the free disk space of a folder now and every 2 s. Returns a function that stops the measurements.
 * @param onRead called with the reason if less than `minFreeBytes` are free, otherwise with null.
 */
function watchDiskSpace(
  folder: string,
  minFreeBytes: number,
  clock: Pick<Clock, "schedule">,
  onRead: (lowSpaceReason: string | null) => void,
): () => void {
  let timer: Timer | null = null;
  let isClosed = false;
  const poll = async (): Promise<void> => {
    const freeBytes = await statfs(folder).then(
      ({ bavail, bsize }) => bavail * bsize,
      // If the disk does not respond, the next write detects it.
      () => Infinity,
    );
    if (isClosed) return;
    const free = formatMibRoundedDown(freeBytes);
    const isEnough = freeBytes >= minFreeBytes;
    onRead(isEnough ? null : `the disk of ${folder} has only ${free} left (setting min_free_disk_mb)`);
    timer = clock.schedule(READ_EVERY_MS, () => void poll());
  };
  void poll();
  return () => {
    isClosed = true;
    timer?.cancel();
  };
}

interface StepThread {
  runStep(step: string, args: readonly unknown[]): Promise<unknown>;
}

/** Returns a function that runs steps: reads in this thread, page reads in the reader's, writes in the writer's. */
export function sqliteSteps(prepare: Prepare, reader: StepThread, writer: StepThread): RunStep {
  const tx = new SqliteTx(prepare, null);
  return (name, step, args) => {
    if (step.kind === "read") return runBody(step, tx, args);
    return (step.kind === "pageRead" ? reader : writer).runStep(name, args);
  };
}
